(* Read assignment/1 for a rebalance that has been read. *)

open Documents

type t = {
  pairs : (Z.t * Z.t) list; (* partition, member; what does not exist has no number *)
  names_agree : bool; (* every member is present, and no other *)
  has_certificate : bool;
  certificate : Certificate.t option; (* if the one shown is of this group *)
  policy : Policy.t option;
  stated : Policy.stated list; (* of levels *)
  status : string option;
}

let known =
  [ "format"; "members"; "group"; "id"; "assignor"; "reason"; "status"; "figures";
    "certificate"; "policy"; "objectives" ]
[@@ocamlformat "disable"]

let read (group : Rebalance.t) value =
  let found = fields "$" known value in
  required "$" found "format" (format "assignment/1");
  let given = required "$" found "members" entries in
  let missing = Array.length group.members + 1 in
  let partitions = group.first.(Array.length group.topics) in
  let holder = Array.make (partitions + 1) Z.zero and pairs = ref [] in
  (* Sorted by partition, except for what is assigned twice or does not exist. *)
  let add c p =
    if p <= partitions && Z.equal holder.(p) Z.zero then holder.(p) <- c
    else pairs := (Z.of_int p, c) :: !pairs
  in
  let hold c path (topic, numbers) =
    let path = below path topic in
    let number =
      match Hashtbl.find_opt group.topic_number topic with
      | Some t ->
          let start = group.first.(t) and stop = group.first.(t + 1) in
          fun n -> if n < stop - start then start + n + 1 else partitions + 1
      | None -> fun _ -> partitions + 1
    in
    List.iter (fun n -> add c (number (small path n))) (items path numbers)
  in
  List.iter
    (fun (name, held) ->
      let place = Hashtbl.find_opt group.member_number name in
      let c = match place with Some place -> place + 1 | None -> missing in
      let path = below "$.members" name in
      List.iter (hold (Z.of_int c) path) (entries path held))
    given;
  for p = partitions downto 1 do
    if not (Z.equal holder.(p) Z.zero) then pairs := (Z.of_int p, holder.(p)) :: !pairs
  done;
  let is_member (name, _) = Hashtbl.mem group.member_number name in
  let names_agree =
    List.length given = Array.length group.members && List.for_all is_member given
  in
  let certificate = optional "$" found "certificate" (Certificate.read group) in
  {
    pairs = !pairs;
    names_agree;
    has_certificate = certificate <> None;
    certificate = Option.join certificate;
    policy = optional "$" found "policy" Policy.read;
    stated =
      Option.value ~default:[] (optional "$" found "objectives" (list Policy.objective));
    status = optional "$" found "status" Policy.status;
  }
