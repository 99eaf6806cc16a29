(* The members that are best for each partition by itself, level by level, and the parts of
   topics that have the same of them. Proved code tests that no assignment that is as good
   in these levels has a partition elsewhere; others that pass would be as right. *)

open Lists

type t = {
  parts : Z.t list; (* numbered from 1 *)
  part_at : Z.t -> Z.t; (* by partition *)
  best_of : Z.t -> Z.t list; (* by part *)
  members : int; (* in all parts; they are listed where they are needed *)
}

(* Weights in which the first of some levels counts most. *)
let combined partitions levels =
  let add (x, y) = Z.succ (Z.mul partitions (Z.add x y)) in
  let base = List.fold_left (fun base one -> Z.max base (add one)) Z.one levels in
  Core.combined base levels

type choice = { near : bool; far : bool; owner : Z.t option } (* which of them are best *)

(* Of members beside the owner it only matters whether their rack has a replica. *)
let choose levels ~has_near ~has_far owner_far owner =
  let counted moved far = List.map (Core.values (Z.of_int moved, Z.of_int far)) levels in
  let moved = if owner = None then 0 else 1 in
  let near = counted moved 0 and far = counted moved 1 in
  let stays = Option.map (fun _ -> counted 0 (if owner_far then 1 else 0)) owner in
  let sorts =
    (if has_near then [ near ] else [])
    @ (if has_far then [ far ] else [])
    @ Option.to_list stays
  in
  let order = List.compare Z.compare in
  let least = List.hd (List.sort order sorts) in
  let is_least values = order values least = 0 in
  {
    near = has_near && is_least near;
    far = has_far && is_least far;
    owner = (match stays with Some values when is_least values -> owner | _ -> None);
  }

let parts_of (document : Core.document) levels =
  let counts_moves = List.exists (fun (x, _) -> Z.sign x > 0) levels in
  let counts_racks = List.exists (fun (_, y) -> Z.sign y > 0) levels in
  let beside = Hashtbl.create 16 and part_of = Hashtbl.create 16 and best = Hashtbl.create 16 in
  let size = ref 0 in
  let is_far racks c = counts_racks && document.is_far_from racks c in
  let split t racks =
    match Hashtbl.find_opt beside (t, racks) with
    | Some found -> found
    | None ->
        let subscribers = document.subscribers_at t in
        let near, far = List.partition (fun c -> not (is_far racks c)) subscribers in
        let found = ((near, List.length near), (far, List.length far)) in
        Hashtbl.add beside (t, racks) found;
        found
  in
  let members near far choice =
    (if choice.near then near else [])
    @ (if choice.far then far else [])
    @ Option.to_list choice.owner
  in
  let part p =
    let t = document.topic_at p in
    let racks = if counts_racks then document.racks_at p else Z.one in
    let (near, near_count), (far, far_count) = split t racks in
    let owner = if counts_moves then document.owner_at p else None in
    let owner_far = Option.fold ~none:false ~some:(is_far racks) owner in
    let choice =
      if near = [] && far = [] then { near = false; far = false; owner = None }
      else choose levels ~has_near:(near <> []) ~has_far:(far <> []) owner_far owner
    in
    let key = (t, racks, choice) in
    match Hashtbl.find_opt part_of key with
    | Some number -> number
    | None ->
        let number = Z.of_int (Hashtbl.length part_of + 1) in
        Hashtbl.add part_of key number;
        Hashtbl.add best number (lazy (members near far choice));
        size :=
          !size
          + (if choice.near then near_count else 0)
          + (if choice.far then far_count else 0)
          + if choice.owner = None then 0 else 1;
        number
  in
  let found = Array.of_list (List.rev (List.rev_map part document.partition_list)) in
  {
    parts = Rebalance.up_to (Hashtbl.length part_of);
    part_at = Rebalance.at found;
    best_of = (fun part -> Lazy.force (Hashtbl.find best part));
    members = !size;
  }

(* The narrowed group, if the assignment is as good in these levels as any can be. *)
let document_of (document : Core.document) pairs counts levels { parts; part_at; best_of; _ } =
  let weights = combined document.partition_count levels in
  let narrowed = Core.narrowed document parts part_at best_of in
  let least = Core.least_cost document parts part_at best_of weights in
  if
    Z.leq (Core.values counts weights) least
    && Core.check_document narrowed
    && Core.check_valid narrowed (Core.sets_of narrowed) pairs
  then Some narrowed
  else None
