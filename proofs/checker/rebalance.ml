(* Read rebalance/1; then number its names, settle its claims, and lay it out in arrays. *)

open Lists
open Documents

let partitions_max = 10_000_000

type t = {
  id : string option;
  members : string array; (* in order; the first is number 1 *)
  topics : string array;
  member_number : (string, int) Hashtbl.t;
  topic_number : (string, int) Hashtbl.t;
  first : int array; (* by topic, from 0: its partition 0; and one entry past the last *)
  document : Core.document;
  racks_listed : int; (* of all replicas *)
  states_lag : bool; (* of any topic that has subscribers *)
}

type topic = { count : int; lag : Z.t array option; racks : string list array option }

type member = {
  subscription : string list;
  owned : (string * int list) list;
  generation : int;
  rack : string option;
  capacity : Z.t;
}

type written = {
  named : string option; (* id *)
  by_topic : (string * topic) array; (* in order *)
  by_member : (string * member) array;
}

let once path names =
  let rec all_differ = function
    | [] -> true
    | one :: rest -> (not (List.mem one rest)) && all_differ rest
  in
  let differ =
    match names with
    | [] | [ _ ] -> true
    | _ when List.compare_length_with names 8 <= 0 -> all_differ names
    | _ -> List.length (List.sort_uniq compare names) = List.length names
  in
  if not differ then refuse path "an entry listed twice";
  names

let read_topic path value =
  let found = fields path [ "partitions"; "lag"; "racks" ] value in
  let count = required path found "partitions" small in
  if count > partitions_max then refuse (below path "partitions") "too many partitions";
  let listed key read =
    optional path found key (fun path value ->
        let entries = Array.of_list (list read path value) in
        if Array.length entries <> count then refuse path "another number of entries";
        entries)
  in
  { count; lag = listed "lag" Documents.count; racks = listed "racks" (list text) }

let read_member path value =
  let known =
    [ "subscription"; "owned"; "generation"; "rack"; "instance_id"; "capacity" ]
  in
  let found = fields path known value in
  let claims path value =
    List.rev_map
      (fun (topic, numbers) ->
        let path = below path topic in
        (topic, List.rev (List.rev_map clamp (once path (list count path numbers)))))
      (List.rev (entries path value))
  in
  let generation path value =
    let most = Z.of_int 0x7fffffff in
    Z.to_int (integer ~least:Z.minus_one ~most path value)
  in
  ignore (optional path found "instance_id" text);
  {
    subscription =
      required path found "subscription" (fun path value -> once path (list text path value));
    owned = Option.value ~default:[] (optional path found "owned" claims);
    generation = Option.value ~default:(-1) (optional path found "generation" generation);
    rack = optional path found "rack" text;
    capacity = Option.value ~default:Z.one (optional path found "capacity" positive);
  }

let by_name read path value =
  let read_one (name, value) = (name, read (below path name) value) in
  let found = Array.of_list (List.rev (List.rev_map read_one (entries path value))) in
  Array.sort (fun (one, _) (other, _) -> String.compare one other) found;
  found

let numbers found =
  let number_of = Hashtbl.create (Array.length found) in
  Array.iteri (fun place (name, _) -> Hashtbl.replace number_of name place) found;
  number_of

(* Of several claims that count, the newest; of a tie, none (KIP-341). *)
let settle topics first topic_number members =
  let partitions = first.(Array.length topics) in
  let owner = Array.make partitions None and newest = Array.make partitions (-2) in
  let claim c one wanted (name, numbers) =
    match Hashtbl.find_opt topic_number name with
    | Some t when Hashtbl.mem wanted name ->
        let claim_one number =
          let p = first.(t) + number in
          if number < (snd topics.(t)).count && one.generation >= newest.(p) then (
            owner.(p) <-
              (if one.generation > newest.(p) then Some (Z.of_int (c + 1)) else None);
            newest.(p) <- one.generation)
        in
        List.iter claim_one numbers
    | _ -> ()
  in
  Array.iteri
    (fun c (_, one) ->
      if one.owned <> [] then (
        let wanted = Hashtbl.create 16 in
        List.iter (fun topic -> Hashtbl.replace wanted topic ()) one.subscription;
        List.iter (claim c one wanted) one.owned))
    members;
  owner

(* Sets of racks, numbered from 1; the first is empty. *)
let number_racks topics first =
  let rack_number = Hashtbl.create 16 and set_number = Hashtbl.create 16 in
  let sets = ref [ [] ] in
  Hashtbl.add set_number [] 1;
  let racks_of = Array.make first.(Array.length topics) Z.one in
  let number_of rack =
    match Hashtbl.find_opt rack_number rack with
    | Some number -> number
    | None ->
        let number = Hashtbl.length rack_number in
        Hashtbl.add rack_number rack number;
        number
  in
  let set_of racks =
    let set = List.sort_uniq compare (List.map number_of racks) in
    match Hashtbl.find_opt set_number set with
    | Some number -> number
    | None ->
        let number = Hashtbl.length set_number + 1 in
        Hashtbl.add set_number set number;
        sets := set :: !sets;
        number
  in
  Array.iteri
    (fun t (_, topic) ->
      let set number racks = racks_of.(first.(t) + number) <- Z.of_int (set_of racks) in
      Option.iter (Array.iteri set) topic.racks)
    topics;
  (rack_number, Array.of_list (List.rev !sets), racks_of)

let up_to count = List.rev (List.rev_map Z.of_int (List.init count (fun k -> k + 1)))
let at array k = array.(Z.to_int k - 1)

let lay_out topics members topic_number first : Core.document =
  let partitions = first.(Array.length topics) in
  let topic_of = Array.make partitions Z.one and lag = Array.make partitions Z.zero in
  Array.iteri
    (fun t (_, topic) ->
      for p = first.(t) to first.(t + 1) - 1 do
        topic_of.(p) <- Z.of_int (t + 1)
      done;
      Option.iter (Array.iteri (fun number n -> lag.(first.(t) + number) <- n)) topic.lag)
    topics;
  let subscribers = Array.make (Array.length topics) [] in
  for c = Array.length members - 1 downto 0 do
    let subscribe name =
      match Hashtbl.find_opt topic_number name with
      | Some t -> subscribers.(t) <- Z.of_int (c + 1) :: subscribers.(t)
      | None -> ()
    in
    List.iter subscribe (snd members.(c)).subscription
  done;
  let owner = settle topics first topic_number members in
  let rack_number, sets, racks_of = number_racks topics first in
  (* No rack, or one that no replica has, is in no set; without racks no one is far. *)
  let rack_of =
    Array.map
      (fun (_, one) ->
        Option.map
          (fun rack -> Option.value ~default:(-1) (Hashtbl.find_opt rack_number rack))
          one.rack)
      members
  in
  let is_far set c =
    let racks = at sets set in
    match at rack_of c with
    | Some rack -> racks <> [] && not (List.exists (Int.equal rack) racks)
    | None -> false
  in
  let capacity = Array.map (fun (_, one) -> one.capacity) members in
  {
    member_list = up_to (Array.length members);
    partition_list = up_to partitions;
    topic_list = up_to (Array.length topics);
    topic_at = at topic_of;
    subscribers_at = at subscribers;
    owner_at = at owner;
    lag_at = at lag;
    racks_at = at racks_of;
    is_far_from = is_far;
    capacity_at = at capacity;
    member_count = Z.of_int (Array.length members);
    partition_count = Z.of_int partitions;
    topic_count = Z.of_int (Array.length topics);
  }

let racks_listed (_, topic) =
  let listed = Option.value ~default:[||] topic.racks in
  Array.fold_left (fun n racks -> n + List.length racks) 0 listed

let total topics = Array.fold_left (fun n (_, topic) -> n + topic.count) 0 topics

let read value =
  let path = "$" in
  let found = fields path [ "format"; "group"; "id"; "topics"; "members" ] value in
  required path found "format" (format "rebalance/1");
  ignore (required path found "group" text);
  let named = optional path found "id" text in
  let by_topic = required path found "topics" (by_name read_topic) in
  let by_member = required path found "members" (by_name read_member) in
  if total by_topic > partitions_max then refuse "$.topics" "too many partitions";
  { named; by_topic; by_member }

let understand { named; by_topic = topics; by_member = members } =
  let first = Array.make (Array.length topics + 1) 0 in
  Array.iteri (fun t (_, topic) -> first.(t + 1) <- first.(t) + topic.count) topics;
  let topic_number = numbers topics in
  let document = lay_out topics members topic_number first in
  let states_lag t =
    (snd topics.(Z.to_int t - 1)).lag <> None && document.subscribers_at t <> []
  in
  {
    id = named;
    members = Array.map fst members;
    topics = Array.map fst topics;
    member_number = numbers members;
    topic_number;
    first;
    document;
    racks_listed = Array.fold_left (fun n topic -> n + racks_listed topic) 0 topics;
    states_lag = List.exists states_lag document.topic_list;
  }
