(* A region, whole or of one topic, with what terms about it have in common. *)

open Lists

type t = {
  group : Rebalance.t;
  region : Regions.t;
  scale : Z.t; (* the least common multiple of the capacities in play *)
  in_play : int; (* members *)
  instance : Core.instance;
  pools : Z.t list;
  assignable : Z.t list; (* topics *)
  least_counts : bool; (* whether the least of a pool is that of its topics here *)
  pass : int Lazy.t; (* the steps of one *)
}

let size view t = view.group.first.(Z.to_int t) - view.group.first.(Z.to_int t - 1)
let partition view t number = Z.of_int (view.group.first.(Z.to_int t - 1) + number + 1)

let lags view t =
  List.init (size view t) (fun number -> view.instance.lag (partition view t number))

let row view t = Core.row view.region.rows (view.region.pool_at t)

let eligible view t =
  List.filter (Core.is_able (row view t)) (view.instance.subscribers t)

let steps_per_item = 4
let steps_per_best = 16

(* The steps of a pass over the partitions and members of some topics, and, which is much
   quicker, over the names of all. *)
let steps_of_pass view =
  let pairs =
    List.fold_left
      (fun n t -> n + size view t + List.length (eligible view t))
      0 view.assignable
  in
  let others = view.in_play + Array.length view.group.topics in
  (steps_per_item * pairs) + (others / steps_per_item)

let with_pass view = { view with pass = lazy (steps_of_pass view) }

let whole (group : Rebalance.t) region =
  let document = group.document in
  let used = Hashtbl.create 16 in
  let has_partitions t = group.first.(Z.to_int t - 1) < group.first.(Z.to_int t) in
  let assignable =
    List.filter
      (fun t -> has_partitions t && document.subscribers_at t <> [])
      document.topic_list
  in
  List.iter
    (fun t -> List.iter (fun c -> Hashtbl.replace used c ()) (document.subscribers_at t))
    assignable;
  let capacities = Hashtbl.create 16 in
  Hashtbl.iter (fun c () -> Hashtbl.replace capacities (document.capacity_at c) ()) used;
  with_pass
    {
      group;
      region;
      scale = Hashtbl.fold (fun capacity () -> Z.lcm capacity) capacities Z.one;
      in_play = Hashtbl.length used;
      instance = Core.instance_of document;
      pools = Core.collect Fun.id region.names;
      assignable;
      least_counts = true;
      pass = lazy 0;
    }

let of_topic view t =
  let pool = view.region.pool_at t in
  let shares other = Z.equal (view.region.pool_at other) pool in
  let partitions = List.init (size view t) (partition view t) in
  with_pass
    {
      view with
      instance = Core.only view.instance partitions;
      pools = [ pool ];
      assignable = List.filter (Z.equal t) view.assignable;
      least_counts = List.for_all (Z.equal t) (List.filter shares view.assignable);
    }
