(* Read a certificate: levels or thresholds, by member. Proved code checks what they claim;
   here it is only tested that they are of this group, and that levels count thresholds. *)

open Lists
open Documents

type written = {
  levels : (string * Z.t) list; (* by name of a member *)
  prices : (string * Z.t) list;
  thresholds : (string * (Z.t * Z.t)) list option;
  weights : (Z.t option * Z.t option) option; (* of moves and mismatches *)
}

type t = {
  level : Z.t array; (* by member, from 0 *)
  price : Z.t array;
  threshold : (Z.t * Z.t) array;
  per_move : Z.t;
  per_mismatch : Z.t;
  scale : Z.t; (* a multiple of all capacities of thresholds *)
  largest : Z.t;
}

(* The entries of exactly the members of the group, in their order; None of others. *)
let by_member (group : Rebalance.t) found =
  let count = Array.length group.members in
  let entries = Array.make count None in
  let place_all (name, value) =
    match Hashtbl.find_opt group.member_number name with
    | Some place ->
        entries.(place) <- Some value;
        true
    | None -> false
  in
  let all_known = List.for_all place_all found in
  if all_known && List.length found = count then Some (Array.map Option.get entries) else None

let weights path value =
  let found = fields path [ "stickiness"; "rack" ] value in
  let weight name = optional path found name count in
  (weight "stickiness", weight "rack")

(* Whether two members that can receive something differ in capacity. *)
let is_weighted (group : Rebalance.t) =
  let document = group.document in
  let first = ref None in
  let differs c =
    let capacity = document.capacity_at c in
    match !first with
    | None ->
        first := Some capacity;
        false
    | Some other -> not (Z.equal other capacity)
  in
  let has_partitions t = group.first.(Z.to_int t - 1) < group.first.(Z.to_int t) in
  List.exists
    (fun t -> has_partitions t && List.exists differs (document.subscribers_at t))
    document.topic_list

let read path value =
  let found = fields path [ "level"; "price"; "threshold"; "weights" ] value in
  {
    levels = required path found "level" (named count);
    prices = required path found "price" (named (fun path value -> integer path value));
    thresholds = optional path found "threshold" (named (pair positive));
    weights = optional path found "weights" weights;
  }

(* The certificate, if it is of this group. *)
let of_group (group : Rebalance.t) { levels; prices; thresholds; weights } =
  let level = by_member group levels and price = by_member group prices in
  let weight = Option.value ~default:Z.zero in
  let per_move, per_mismatch =
    match weights with
    | Some (moves, mismatches) -> (weight moves, weight mismatches)
    | None -> (Z.one, Z.zero)
  in
  let capacity c = group.document.capacity_at (Z.of_int (c + 1)) in
  let derived level = Array.mapi (fun c n -> (Z.succ n, capacity c)) level in
  let threshold =
    match (thresholds, level) with
    | Some keys, _ -> by_member group keys
    | None, Some level when not (is_weighted group) -> Some (derived level)
    | None, _ -> None
  in
  match (level, price, threshold) with
  | Some level, Some price, Some threshold ->
      let capacities = Array.to_list (Array.map snd threshold) in
      let scale = List.fold_left Z.lcm Z.one (List.sort_uniq Z.compare capacities) in
      let largest = List.fold_left Z.max Z.one capacities in
      Some { level; price; threshold; per_move; per_mismatch; scale; largest }
  | _ -> None

let threshold_of certificate c = certificate.threshold.(Z.to_int c - 1)
let price_of certificate c = certificate.price.(Z.to_int c - 1)

(* The price at which the units of a pool end, if the largest prices get most; any other
   number would give a true bound too, but a weaker one. *)
let stop_of price (row : Core.pool_row) =
  let paid c =
    let least, most = Core.limit row c in
    (price c, Z.sub most least, least)
  in
  let sorted =
    List.sort (fun (one, _, _) (other, _, _) -> Z.compare other one)
      (List.rev_map paid row.row_members)
  in
  let sure = List.fold_left (fun n (_, _, least) -> Z.add n least) Z.zero sorted in
  let rec fill left last = function
    | [] -> last
    | (price, more, _) :: rest ->
        if Z.leq left more then price else fill (Z.sub left more) price rest
  in
  fill (Z.sub row.row_units sure) Z.zero sorted

let stops price rows names =
  let known = Hashtbl.create 16 in
  List.iter (fun k -> Hashtbl.replace known k (stop_of (price k) (Core.row rows k))) names;
  fun k -> Hashtbl.find known k

let levels_count (group : Rebalance.t) certificate =
  let counts c level =
    let capacity = group.document.capacity_at (Z.of_int (c + 1)) in
    Z.equal level (Core.keys_below capacity certificate.threshold.(c))
  in
  let rec all c = c < 0 || (counts c certificate.level.(c) && all (c - 1)) in
  all (Array.length certificate.level - 1)
