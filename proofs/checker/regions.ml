(* Regions of balances, as proved code computes them, and the thresholds of even shares.
   Thresholds are found here, and only tested there: others that pass would be as right. *)

type t = {
  names : Z.t list; (* of pools *)
  pool_at : Z.t -> Z.t; (* by topic *)
  rows : Core.pool_row Core.Map.t;
}

(* Members that can receive something, without repetition. *)
let in_play (group : Rebalance.t) =
  let document = group.document in
  let found = Hashtbl.create 16 in
  List.iter
    (fun t -> List.iter (fun c -> Hashtbl.replace found c ()) (document.subscribers_at t))
    (Core.used_topics document);
  List.filter (Hashtbl.mem found) document.member_list

let scale_bits = 10_000

(* The least common multiple of the capacities in play, by which a policy may divide. *)
let common_capacity (group : Rebalance.t) =
  let add common capacity =
    let common = Z.lcm common capacity in
    if Z.numbits common > scale_bits then
      Documents.refuse "$.members" "capacities have no common multiple that is small enough";
    common
  in
  let capacities = List.rev_map group.document.capacity_at (in_play group) in
  List.fold_left add Z.one (List.sort_uniq Z.compare capacities)

(* Keys: number, capacity and, to tell apart what is equal, member; in their order. *)
module Keys = Set.Make (struct
  type t = Z.t * Z.t * Z.t

  let compare (n, w, c) (m, v, d) =
    match Z.compare (Z.mul n v) (Z.mul m w) with
    | 0 -> ( match Z.compare v w with 0 -> Z.compare c d | order -> order)
    | order -> order
end)

(* The last key of an even share: up to the fair share of each come first, and of the few
   units that are then left each goes to the least next key. *)
let last_key units members capacity_at =
  let held =
    let capacities = List.rev_map capacity_at members in
    let together = List.fold_left Z.add Z.zero capacities in
    List.rev_map
      (fun c ->
        let w = capacity_at c in
        (Z.div (Z.mul units w) together, w, c))
      members
  in
  let left = List.fold_left (fun left (n, _, _) -> Z.sub left n) units held in
  let next (n, w, c) = (Z.succ n, w, c) in
  let rec fill left last following =
    if Z.sign left <= 0 then last
    else
      let least = Keys.min_elt following in
      fill (Z.pred left) least (Keys.add (next least) (Keys.remove least following))
  in
  let last = Keys.max_elt (Keys.of_list held) in
  let number, capacity, _ = fill left last (Keys.of_list (List.rev_map next held)) in
  (number, capacity)

(* Of no units no member has a key below the threshold. *)
let threshold units members capacity_at =
  if members = [] || Z.equal units Z.zero then
    (Z.one, List.fold_left (fun most c -> Z.max most (capacity_at c)) Z.one members)
  else last_key units members capacity_at

let thresholds (group : Rebalance.t) sizes =
  let document = group.document in
  let found = Hashtbl.create 16 in
  List.iter
    (fun t ->
      let members = document.subscribers_at t and units = Core.get sizes t in
      Hashtbl.replace found t (threshold units members document.capacity_at))
    document.topic_list;
  let threshold_of t = Hashtbl.find found t in
  if not (Core.check_even document threshold_of) then
    raise (Documents.Defect "a threshold of no even share");
  threshold_of

let of_topics (group : Rebalance.t) limits =
  let document = group.document in
  {
    names = document.topic_list;
    pool_at = Fun.id;
    rows = Core.topic_rows document limits;
  }

let per_topic (group : Rebalance.t) threshold =
  of_topics group (Core.even_limits group.document threshold)

let unrestricted group sizes = of_topics group (Core.open_limits sizes)

let levels document threshold places lowest =
  {
    names = Core.pool_names document lowest;
    pool_at = Core.pool_at lowest;
    rows = Core.level_rows document threshold places lowest;
  }

(* One pool of everything, if all members in play have the same subscription. *)
let equal (group : Rebalance.t) sizes =
  let document = group.document in
  let members = in_play group in
  let add units t = Z.add units (Core.get sizes t) in
  let units = List.fold_left add Z.zero (Core.used_topics document) in
  let key = threshold units members document.capacity_at in
  if Core.check_equal document members key then
    let pool_at _ = Z.one and rows = Core.equal_rows document members key in
    Some { names = [ Z.one ]; pool_at; rows }
  else None
