(* Terms of bounds on peak lag. Proved code checks what each of them claims of all assignments
   within a region; here they are read, and the numbers are found that the checks ask for:
   weights of lags, and for each class of members the gain, prices and number of a crowd. Wrong
   ones can only lead to a term that is not accepted.

   What is accepted is what verify/policy/terms.py accepts, with the same steps of work, except
   for a packing with weights above [table_max]. *)

open Lists
open Views

type level = Peak_lag | Topic_peak_lag

(* A knapsack that the other judge would compute, and this one not. *)
exception Too_large

(* Work is counted as the Python judge does, and what would take more is not checked. *)

type work = { mutable left : int }

let work_max = 100_000_000

let affords work steps =
  steps <= work.left
  &&
  (work.left <- work.left - steps;
   true)

(* Whether the group has all of these names. *)
let known numbers names = List.for_all (Hashtbl.mem numbers) (Option.value ~default:[] names)
let number numbers name = Z.of_int (Hashtbl.find numbers name + 1)

let chosen_topics view (term : Policy.term) =
  match term.topics with
  | None -> view.assignable
  | Some names ->
      let chosen = Hashtbl.create 16 in
      List.iter
        (fun name -> Hashtbl.replace chosen (number view.group.topic_number name) ())
        names;
      List.filter (Hashtbl.mem chosen) view.assignable

let average view (term : Policy.term) =
  let members =
    match term.members with
    | Some names -> List.map (number view.group.member_number) names
    | None -> List.concat_map (eligible view) view.assignable
  in
  Core.Average (members, chosen_topics view term)

(* The weight of the largest step that a lag reaches, and of equal steps the largest. *)
let weight_of (term : Policy.term) =
  let steps = Array.of_list (List.sort compare (Option.value ~default:[] term.steps)) in
  fun lag ->
    let rec search first stop =
      if first = stop then first
      else
        let middle = (first + stop) / 2 in
        if Z.leq (fst steps.(middle)) lag then search (middle + 1) stop
        else search first middle
    in
    match search 0 (Array.length steps) with 0 -> Z.zero | above -> snd steps.(above - 1)

(* The proved table of a knapsack is made by recursion as deep as it is long. *)
let table_max = Z.of_int 100_000

let packing view (term : Policy.term) work =
  let topics = chosen_topics view term and weight_of = weight_of term in
  let held = Hashtbl.create 16 and items = ref 0 in
  let together = ref Z.zero and largest = ref Z.zero in
  let weigh t =
    let weights = List.rev_map weight_of (lags view t) in
    let heavy = List.filter (fun weight -> Z.sign weight > 0) weights in
    items := !items + List.length heavy;
    together := List.fold_left Z.add !together heavy;
    largest := List.fold_left Z.max !largest heavy;
    if heavy <> [] then List.iter (fun c -> Hashtbl.replace held c ()) (eligible view t)
  in
  List.iter weigh topics;
  if !items = 0 then Some Core.Zero
  else
    let share = Z.cdiv !together (Z.of_int (Hashtbl.length held)) in
    let most = Hashtbl.fold (fun c () -> Z.max (view.instance.capacity c)) held Z.one in
    let steps = Z.mul share (Z.of_int !items) in
    let affordable = Z.fits_int steps && affords work (Z.to_int steps) in
    if not affordable then None
    else if Z.gt (Z.max share !largest) table_max then raise Too_large
    else Some (Core.Packing (topics, weight_of, share, Z.div view.scale most))

(* A class of members: its capacity, and of each pool its topics, least and most. *)

type slot = { pool : Z.t; topics : Z.t list; least : Z.t; most : Z.t }

module Classes = Map.Make (struct
  type t = Z.t * slot list

  let compare = compare
end)

let classes_of view =
  let slots = Hashtbl.create 16 in
  let found c = Option.value ~default:[] (Hashtbl.find_opt slots c) in
  let add t c =
    let pool = view.region.pool_at t in
    let mine =
      match found c with
      | slot :: rest when Z.equal slot.pool pool ->
          { slot with topics = t :: slot.topics } :: rest
      | rest ->
          let least, most = Core.limit (row view t) c in
          let least = if view.least_counts then least else Z.zero in
          { pool; topics = [ t ]; least; most } :: rest
    in
    Hashtbl.replace slots c mine
  in
  let by_pool one other = Z.compare (view.region.pool_at one) (view.region.pool_at other) in
  List.iter
    (fun t -> List.iter (add t) (eligible view t))
    (List.stable_sort by_pool view.assignable);
  let join c mine classes =
    let key = (view.instance.capacity c, mine) in
    let members = Option.value ~default:[] (Classes.find_opt key classes) in
    Classes.add key (c :: members) classes
  in
  Hashtbl.fold join slots Classes.empty

let sorted lags =
  let lags = Array.of_list lags in
  Array.stable_sort Z.compare lags;
  lags

let clamp number = if Z.fits_int number then Z.to_int number else max_int

(* Of a pool: lags of the crowd and of the others, each in order. *)
let lags_of view is_crowd slot =
  let split (crowd, others) t =
    let add (crowd, others) n =
      if is_crowd t n then (n :: crowd, others) else (crowd, n :: others)
    in
    List.fold_left add (crowd, others) (lags view t)
  in
  let crowd, others = List.fold_left split ([], []) slot.topics in
  (slot, sorted crowd, sorted others)

let add_first number lags start =
  let rec add k sum = if k = number then sum else add (k + 1) (Z.add sum lags.(k)) in
  add 0 start

(* The steps of a pool: how many of the crowd its members hold at least, their lag then, and
   what each next one adds. *)
let steps_of (slot, crowd, others) =
  let least = clamp slot.least in
  let filling = min least (Array.length others) in
  let first = min (least - filling) (Array.length crowd) in
  let last = min (clamp slot.most) (Array.length crowd) in
  let step k =
    let left = if k < least then others.(least - k - 1) else Z.zero in
    Z.sub crowd.(k) left
  in
  let start = add_first first crowd (add_first filling others Z.zero) in
  (first, start, List.init (max 0 (last - first)) (fun k -> step (first + k)))

(* The step to the next one of the crowd, where a class has as many as it can hold within a
   limit, and that number; None if it has too much lag with any number. *)
let gain_and_cap limit measured =
  let counted = List.map steps_of measured in
  let fewest = List.fold_left (fun n (first, _, _) -> n + first) 0 counted in
  let start = List.fold_left (fun n (_, start, _) -> Z.add n start) Z.zero counted in
  let steps = sorted (List.concat_map (fun (_, _, steps) -> steps) counted) in
  let count = Array.length steps in
  let rec climb number lag =
    if number = count then (number, lag)
    else
      let next = Z.add lag steps.(number) in
      if Z.sign steps.(number) < 0 || Z.leq next limit then climb (number + 1) next
      else (number, lag)
  in
  let number, lag = climb 0 start in
  if Z.gt lag limit then None
  else
    let gain =
      if number < count then steps.(number)
      else
        let last = if count = 0 then Z.zero else steps.(count - 1) in
        Z.max last (Z.sub (Z.succ limit) lag)
    in
    Some (gain, Z.of_int (fewest + number))

(* The price of a pool at which the least or the most of it is met. *)
let price gain (slot, crowd, others) =
  let reduced = Array.append (Array.map (fun n -> Z.sub n gain) crowd) others in
  Array.stable_sort Z.compare reduced;
  let count = Array.length reduced in
  let least = min (clamp slot.least) count and most = clamp slot.most in
  if least > 0 && Z.sign reduced.(least - 1) > 0 then reduced.(least - 1)
  else if most < count && Z.sign reduced.(most) < 0 then reduced.(most)
  else Z.zero

let crowd view (term : Policy.term) work =
  let classes = Classes.bindings (classes_of view) in
  let items ((_, slots), _) =
    List.fold_left
      (fun n slot -> List.fold_left (fun n t -> n + size view t) n slot.topics)
      0 slots
  in
  let steps = List.fold_left (fun n one -> n + items one) 0 classes in
  if not (affords work (steps_per_item * steps)) then None
  else
    let topics = chosen_topics view term in
    let chosen = Hashtbl.create 16 in
    List.iter (fun t -> Hashtbl.replace chosen t ()) topics;
    let at_least = Option.value ~default:Z.zero term.at_least in
    let is_crowd t n = Hashtbl.mem chosen t && Z.geq n at_least in
    let count = List.length classes in
    let gains = Array.make count Z.zero and caps = Array.make count Z.zero in
    let prices = Array.init count (fun _ -> Hashtbl.create 4) in
    let class_of = Hashtbl.create 16 in
    let members = view.group.document.member_count in
    let partitions = view.group.document.partition_count in
    (* So far below 0 that the caps of other members do not matter. *)
    let no_cap = Z.neg (Z.mul (Z.succ members) (Z.succ partitions)) in
    List.iteri
      (fun place ((capacity, slots), mine) ->
        let limit = Z.fdiv (Z.mul (Z.pred term.bound) capacity) view.scale in
        let measured = List.map (lags_of view is_crowd) slots in
        let gain, cap =
          Option.value ~default:(Z.zero, no_cap) (gain_and_cap limit measured)
        in
        gains.(place) <- gain;
        caps.(place) <- cap;
        List.iter
          (fun ((slot, _, _) as one) ->
            Hashtbl.replace prices.(place) slot.pool (price gain one))
          measured;
        List.iter (fun c -> Hashtbl.replace class_of c (Z.of_int (place + 1))) mine)
      classes;
    let price j k =
      Option.value ~default:Z.zero (Hashtbl.find_opt (Rebalance.at prices j) k)
    in
    let gain = Rebalance.at gains and cap = Rebalance.at caps in
    if classes = [] then None
    else
      Some (Core.Crowd (topics, at_least, Hashtbl.find class_of, gain, cap, price))

let hinted view (term : Policy.term) work =
  match term.kind with
  | "average" -> Some (average view term)
  | "packing" -> packing view term work
  | "crowd" | "topic-crowd" -> crowd view term work
  | _ -> None

let kinds = [ "average"; "packing"; "crowd"; "topic-crowd" ]

(* The term as the proved check takes it, if that accepts it. *)
let checked view (term : Policy.term) work =
  let group = view.group in
  let means_something =
    List.mem term.kind kinds
    && known group.member_number term.members
    && known group.topic_number term.topics
  in
  if not (means_something && affords work (Lazy.force view.pass)) then None
  else
    match hinted view term work with
    | Some one
      when Core.check_term view.instance view.pools view.region.pool_at view.region.rows
             view.least_counts view.scale term.bound one ->
        Some one
    | _ -> None

type proof = {
  accepted : bool list; (* by term *)
  bound : Z.t option; (* what they prove together, in units of 1 / scale *)
  scale : Z.t;
}

(* What terms prove of a level. *)
let prove group region level terms work =
  let view = whole group region in
  let best = Hashtbl.create 16 in
  let count about one bound =
    match Hashtbl.find_opt best about with
    | Some (_, known) when Z.geq known bound -> ()
    | _ -> Hashtbl.replace best about (one, bound)
  in
  let views = Hashtbl.create 16 in
  let topic_view name =
    match Hashtbl.find_opt views name with
    | Some found -> found
    | None ->
        let found = of_topic view (number group.Rebalance.topic_number name) in
        Hashtbl.add views name found;
        found
  in
  let topic (term : Policy.term) =
    match (level, term.topics) with
    | Topic_peak_lag, Some (name :: _) -> name
    | _ -> ""
  in
  let about (term : Policy.term) =
    match (level, term.topics) with
    | Peak_lag, _ -> Some view
    | Topic_peak_lag, Some [ name ] when Hashtbl.mem group.Rebalance.topic_number name ->
        Some (topic_view name)
    | Topic_peak_lag, _ -> None
  in
  let accept (term : Policy.term) =
    let found =
      if term.kind = "zero" then if Z.sign term.bound <= 0 then Some Core.Zero else None
      else Option.bind (about term) (fun view -> checked view term work)
    in
    Option.iter (fun one -> count (topic term) one term.bound) found;
    found <> None
  in
  let accepted = List.map accept terms in
  let sum = Hashtbl.fold (fun _ (_, bound) -> Z.add bound) best Z.zero in
  let holds =
    level = Peak_lag
    ||
    let term_at t = Hashtbl.find best group.topics.(Z.to_int t - 1) in
    let has_term t =
      match Hashtbl.find_opt best group.topics.(Z.to_int t - 1) with
      | Some (_, bound) -> Z.sign bound > 0
      | None -> false
    in
    let topics = List.filter has_term group.document.topic_list in
    Core.check_topics view.instance view.pools region.pool_at region.rows view.scale sum topics
      term_at
  in
  let bound = if holds && Hashtbl.length best > 0 then Some sum else None in
  { accepted; bound; scale = view.scale }
