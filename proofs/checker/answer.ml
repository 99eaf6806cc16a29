(* Read assignment/1: first by itself, then for a rebalance that has been read. *)

open Lists
open Documents

type written = {
  id : string option;
  given : (string * (string * Z.t list) list) list; (* member, topic, numbers *)
  shown : Certificate.written option;
  stated_policy : Policy.t option;
  of_levels : Policy.stated list;
  claimed : string option; (* status *)
}

type t = {
  pairs : (Z.t * Z.t) list; (* partition, member; what does not exist has no number *)
  names_agree : bool; (* every member is present, and no other *)
  has_certificate : bool;
  certificate : Certificate.t option; (* if the one shown is of this group *)
  counts_racks : bool; (* whether the weights of the one shown do *)
  policy : Policy.t option;
  stated : Policy.stated list; (* of levels *)
  status : string option;
}

let known =
  [ "format"; "members"; "group"; "id"; "assignor"; "reason"; "status"; "figures";
    "certificate"; "policy"; "objectives" ]
[@@ocamlformat "disable"]

(* Figures that an answer states are read, and not compared: nothing rests on them. *)
let figures path value =
  let counts = [ "kept"; "moves"; "withheld"; "kip54_score" ] in
  let counts = counts @ [ "peak_lag"; "lag_spread"; "rack_mismatches" ] in
  let truths = [ "kip54_balanced"; "dec_min_balanced" ] in
  let found = fields path (("loads" :: counts) @ truths) value in
  ignore (optional path found "loads" (list count));
  List.iter (fun name -> ignore (optional path found name count)) counts;
  List.iter (fun name -> ignore (optional path found name truth)) truths

let read value =
  let path = "$" in
  let found = fields path known value in
  required path found "format" (format "assignment/1");
  List.iter
    (fun name -> ignore (optional path found name text))
    [ "group"; "assignor"; "reason" ];
  ignore (optional path found "figures" figures);
  {
    id = optional path found "id" text;
    given = required path found "members" (named (named (list count)));
    shown = optional path found "certificate" Certificate.read;
    stated_policy = optional path found "policy" Policy.read;
    of_levels =
      Option.value ~default:[] (optional path found "objectives" (list Policy.objective));
    claimed = optional path found "status" Policy.status;
  }

let pairs_of (group : Rebalance.t) given =
  let missing = Array.length group.members + 1 in
  let partitions = group.first.(Array.length group.topics) in
  let holder = Array.make (partitions + 1) Z.zero and pairs = ref [] in
  (* Sorted by partition, except for what is assigned twice or does not exist. *)
  let add c p =
    if p <= partitions && Z.equal holder.(p) Z.zero then holder.(p) <- c
    else pairs := (Z.of_int p, c) :: !pairs
  in
  let hold c (topic, numbers) =
    let number =
      match Hashtbl.find_opt group.topic_number topic with
      | Some t ->
          let start = group.first.(t) and stop = group.first.(t + 1) in
          fun n -> if n < stop - start then start + n + 1 else partitions + 1
      | None -> fun _ -> partitions + 1
    in
    List.iter (fun n -> add c (number (clamp n))) numbers
  in
  List.iter
    (fun (name, held) ->
      let place = Hashtbl.find_opt group.member_number name in
      let c = match place with Some place -> place + 1 | None -> missing in
      List.iter (hold (Z.of_int c)) held)
    given;
  for p = partitions downto 1 do
    if not (Z.equal holder.(p) Z.zero) then pairs := (Z.of_int p, holder.(p)) :: !pairs
  done;
  !pairs

let of_group (group : Rebalance.t) written =
  let is_member (name, _) = Hashtbl.mem group.member_number name in
  let names_agree =
    List.compare_length_with written.given (Array.length group.members) = 0
    && List.for_all is_member written.given
  in
  {
    pairs = pairs_of group written.given;
    names_agree;
    has_certificate = written.shown <> None;
    counts_racks =
      (match written.shown with
      | Some { weights = Some (_, Some weight); _ } -> Z.sign weight > 0
      | _ -> false);
    certificate = Option.bind written.shown (Certificate.of_group group);
    policy = written.stated_policy;
    stated = written.of_levels;
    status = written.claimed;
  }
