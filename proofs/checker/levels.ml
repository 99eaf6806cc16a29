(* The verdict on a policy: whether its balance and budget are met, and for each level the
   value, what its bound rests on, and how high that goes. What no proved code judges is
   unknown here, and listed as not covered; nothing is guessed. *)

open Lists

type 'a found = Known of 'a | Unknown

type certified = { per_move : Z.t; per_mismatch : Z.t; cost : Z.t }

type t = {
  group : Rebalance.t;
  policy : Policy.t;
  counts : Z.t * Z.t; (* moves and mismatches *)
  playing : Z.t list; (* members in play *)
  loads : Z.t Core.Map.t; (* by member *)
  lags : Z.t Core.Map.t Lazy.t; (* by member *)
  topic_lags : Z.t Core.Map.t Lazy.t; (* by topic and member *)
  scale : Z.t Lazy.t; (* peak lag is in units of 1 / scale *)
  balance_met : bool found;
  budget_met : bool;
  certified : certified option Lazy.t; (* of all that are as balanced, and good before *)
  has_certificate : bool;
  region : Regions.t Lazy.t; (* of the balance *)
  unrestricted : Regions.t Lazy.t;
  within_budget : Z.t list Lazy.t; (* moves that an allowed assignment can have *)
  any_moves : Z.t list Lazy.t;
  pass : int Lazy.t; (* the steps of one *)
  rack_steps : int Lazy.t; (* by which it is longer if it compares racks *)
  shown_counts_racks : bool; (* whether the certificate's weights do *)
  narrowing : int Lazy.t; (* the steps of it *)
  work : Terms.work;
}

let steps_of_pass (group : Rebalance.t) =
  let document = group.document in
  let owned p = document.owner_at p <> None in
  let count found = List.fold_left (fun n one -> if found one then n + 1 else n) 0 in
  let subscriptions =
    List.fold_left (fun n t -> n + List.length (document.subscribers_at t)) 0
      document.topic_list
  in
  4 * (Z.to_int document.partition_count + count owned document.partition_list + subscriptions)

(* Each further set of racks of a topic is compared with each subscriber of the topic. *)
let steps_of_racks (group : Rebalance.t) =
  let document = group.document in
  let subscribers = Hashtbl.create 16 and seen = Hashtbl.create 16 in
  let number_of t =
    match Hashtbl.find_opt subscribers t with
    | Some number -> number
    | None ->
        let number = List.length (document.subscribers_at t) in
        Hashtbl.add subscribers t number;
        Hashtbl.add seen (t, Z.zero) ();
        number
  in
  let add steps p =
    let t = document.topic_at p in
    let is_first = not (Hashtbl.mem seen (t, Z.zero)) in
    let number = number_of t and set = (t, document.racks_at p) in
    if Hashtbl.mem seen set then steps
    else (
      Hashtbl.add seen set ();
      if is_first then steps else steps + number)
  in
  List.fold_left add group.racks_listed document.partition_list

let spend context ~by_rack passes =
  let racks = if by_rack then Lazy.force context.rack_steps else 0 in
  Terms.affords context.work (passes * (Lazy.force context.pass + racks))

let counts_racks levels = List.exists (fun (_, y) -> Z.sign y > 0) levels

let linear_levels levels = List.filter_map (fun (_, level) -> Policy.linear level) levels

(* The levels before one, by its text. *)
let rec before of_level = function
  | (text, _) :: _ when text = of_level -> []
  | one :: rest -> one :: before of_level rest
  | [] -> []

let rec after of_level = function
  | (text, _) :: rest when text = of_level -> rest
  | _ :: rest -> after of_level rest
  | [] -> []

(* Levels that a certificate bounds in their order: of another sort, one ends the list. *)
let rec settled = function
  | (text, level) :: rest when text = "load" || Policy.linear level <> None ->
      (text, level) :: settled rest
  | _ -> []

(* Sums of moves and mismatches that are settled before balance is. *)
let before_load (policy : Policy.t) =
  if policy.balance = "dec-min" then []
  else linear_levels (before "load" (settled policy.levels))

(* Terms that hold of a level of moves and mismatches, by what proved code finds. *)
let holds (term : Policy.term) found =
  match found with Some n -> Z.leq term.bound n | None -> false

(* Of all counts that a bound leaves, the first in the order of some levels: beside each
   number of moves the fewest mismatches. *)
let first_left (document : Core.document) x y bound levels moved =
  let try_one best n =
    let counts = (n, Core.fewest x y bound n) in
    let found = List.map (Core.values counts) levels in
    let is_left =
      Z.geq (Core.values counts (x, y)) bound && Z.leq (snd counts) document.partition_count
    in
    match best with
    | Some (known, _) when (not is_left) || List.compare Z.compare known found <= 0 -> best
    | _ -> if is_left then Some (found, counts) else None
  in
  Option.map snd (List.fold_left try_one None moved)

(* What a bound on weighted moves and mismatches proves of a level, if counts are as good in
   the levels before as any, or else of the level by itself. *)
let level_bound context moved x y bound before weights =
  let document = context.group.document and counts = context.counts in
  let of_levels before =
    let as_good found level = Z.equal (Core.values found level) (Core.values counts level) in
    match first_left document x y bound (before @ [ weights ]) moved with
    | Some found when List.for_all (as_good found) before ->
        let n = Core.values found weights in
        if Core.is_level_bound document moved x y bound before weights counts n then Some n
        else None
    | _ -> None
  in
  match of_levels before with Some n -> Some n | None -> of_levels []

(* What partitions cost alone, as a bound on a level. *)
let alone context levels weights =
  let document = context.group.document in
  let x, y = Narrowed.combined document.partition_count (levels @ [ weights ]) in
  let rows = (Lazy.force context.unrestricted).rows in
  let cost = Core.topic_bound document rows (fun _ _ -> Z.zero) (fun _ -> Z.zero) x y in
  level_bound context (Lazy.force context.any_moves) x y cost levels weights

(* The bounds of terms [separate] on a level, after others and by itself. They are the same for
   all such terms, and so computed once, though each costs its steps of work. *)
let separate context levels weights =
  let by_itself = lazy (alone context [] weights) in
  let after_others = if levels = [] then by_itself else lazy (alone context levels weights) in
  fun term -> holds term (Lazy.force after_others) || holds term (Lazy.force by_itself)

let prices context levels weights (term : Policy.term) =
  let group = context.group in
  let document = group.document in
  let weight name = Option.value ~default:Z.zero (List.assoc_opt name term.weight) in
  let x = weight "stickiness" and y = weight "rack" in
  let stated = Hashtbl.create 16 in
  let add_topic (topic, by_member) =
    let add t (name, price) =
      match Hashtbl.find_opt group.member_number name with
      | Some c -> Hashtbl.replace stated (t + 1, c + 1) price
      | None -> ()
    in
    Option.iter
      (fun t -> List.iter (add t) by_member)
      (Hashtbl.find_opt group.topic_number topic)
  in
  List.iter add_topic term.price;
  let price k c =
    Option.value ~default:Z.zero (Hashtbl.find_opt stated (Z.to_int k, Z.to_int c))
  in
  let region = Lazy.force context.region in
  let stop = Certificate.stops price region.rows region.names in
  let cost = Core.topic_bound document region.rows price stop x y in
  holds term (level_bound context (Lazy.force context.within_budget) x y cost levels weights)

let linear_terms context levels weights =
  let passes = 2 + List.length levels and is_separate = separate context levels weights in
  let affordable ~by_rack = spend context ~by_rack passes in
  let level_by_rack = counts_racks (weights :: levels) in
  let term_by_rack (term : Policy.term) =
    match List.assoc_opt "rack" term.weight with Some y -> Z.sign y > 0 | None -> false
  in
  fun (term : Policy.term) ->
    match term.kind with
    | "zero" -> Z.leq term.bound Z.zero
    | "separate" -> affordable ~by_rack:level_by_rack && is_separate term
    | "prices" ->
        context.policy.balance = "per-topic"
        && affordable ~by_rack:(term_by_rack term)
        && prices context levels weights term
    | _ -> false

let largest : Policy.term list -> Policy.value option = function
  | [] -> None
  | first :: rest ->
      let add most (term : Policy.term) = Z.max most term.bound in
      Some (Policy.Number (List.fold_left add first.bound rest))

(* What terms prove of a level that no other terms than [zero] are about. *)
let of_zeros context (level : Policy.level) (terms : Policy.term list) =
  let is_zero (term : Policy.term) = term.kind = "zero" && Z.leq term.bound Z.zero in
  match (List.filter is_zero terms, level) with
  | [], _ -> Known None
  | _, [ (_, "load") ] ->
      let none_held = List.rev_map (fun _ -> Z.zero) (Regions.in_play context.group) in
      Known (Some (Policy.Numbers none_held))
  | accepted, [ (_, ("peak-lag" | "topic-peak-lag" | "lag-spread")) ] -> Known (largest accepted)
  | _ -> Unknown

let of_terms context of_level (level : Policy.level) terms =
  let of_lag sort =
    let region = Lazy.force context.region in
    match Terms.prove context.group region sort terms context.work with
    | found -> Known (Option.map (fun n -> Policy.Number n) found.bound)
    | exception Terms.Too_large -> Unknown
  in
  match (Policy.linear level, level) with
  | Some weights, _ ->
      let levels = linear_levels (before of_level context.policy.levels) in
      Known (largest (List.filter (linear_terms context levels weights) terms))
  | None, [ (weight, "peak-lag") ] when Z.equal weight Z.one -> of_lag Terms.Peak_lag
  | None, [ (weight, "topic-peak-lag") ] when Z.equal weight Z.one -> of_lag Terms.Topic_peak_lag
  | None, _ -> of_zeros context level terms

(* Loads in units of 1 / scale, largest first. *)
let load_vector context =
  let scale = Lazy.force context.scale in
  let part c =
    let unit = Z.divexact scale (context.group.document.capacity_at c) in
    Z.mul (Core.get context.loads c) unit
  in
  let parts = List.rev_map part (Regions.in_play context.group) in
  List.sort (fun one other -> Z.compare other one) parts

let spread document scale entries playing =
  match Core.spread_value document scale entries playing with
  | Some spread -> spread
  | None -> raise (Documents.Defect "a scale that capacities do not divide")

(* The value of a level, and its scale. *)
let value_of context level =
  let document = context.group.document in
  match (Policy.linear level, level) with
  | Some weights, _ -> Known (Policy.Number (Core.values context.counts weights), Z.one)
  | None, [ (_, "load") ] ->
      Known (Policy.Numbers (load_vector context), Lazy.force context.scale)
  | None, [ (weight, "peak-lag") ] ->
      let scale = Lazy.force context.scale and lags = Lazy.force context.lags in
      Known (Policy.Number (Z.mul weight (Core.peak_value document scale lags)), scale)
  | None, [ (weight, "lag-spread") ] ->
      let scale = Lazy.force context.scale and lags = Lazy.force context.lags in
      Known (Policy.Number (Z.mul weight (spread document scale lags context.playing)), scale)
  | None, [ (weight, "topic-peak-lag") ] ->
      let scale = Lazy.force context.scale and lags = Lazy.force context.topic_lags in
      Known (Policy.Number (Z.mul weight (Core.topic_peak_value document scale lags)), scale)
  | _ -> Unknown

(* The bounds of a certificate. It proves the load vector, of those that are as good in the
   sums of moves and mismatches before it; its cost then bounds such sums after it. *)
let of_certificate context ~affordable of_level level =
  let policy = context.policy in
  let in_turn = settled policy.levels in
  let of_cost levels { per_move; per_mismatch; cost } weights =
    let moved = Lazy.force context.within_budget in
    level_bound context moved per_move per_mismatch cost levels weights
  in
  let is_attained certified levels weights =
    match of_cost levels certified weights with
    | Some n -> Z.equal n (Core.values context.counts weights)
    | None -> false
  in
  (* Of balances other than dec-min, only while all levels after [load] are as low. *)
  let rec all_attained certified earlier = function
    | weights :: rest ->
        is_attained certified (List.rev earlier) weights
        && all_attained certified (weights :: earlier) rest
    | [] -> true
  in
  let is_dec_min = policy.balance = "dec-min" in
  let last = if is_dec_min then in_turn else after "load" in_turn in
  let ahead levels = linear_levels (before of_level levels) in
  let found certified =
    match Policy.linear level with
    | None when of_level = "load" -> Some (Policy.Numbers (load_vector context))
    | Some weights when List.mem_assoc of_level last ->
        if is_dec_min || all_attained certified [] (ahead last) then
          Option.map (fun n -> Policy.Number n) (of_cost (ahead last) certified weights)
        else None
    | Some weights when is_dec_min ->
        Option.map (fun n -> Policy.Number n) (of_cost [] certified weights)
    | Some weights when List.mem_assoc of_level in_turn ->
        Option.map (fun n -> Policy.Number n) (alone context (ahead in_turn) weights)
    | _ -> None
  in
  let has_load = List.mem_assoc "load" policy.levels in
  if context.has_certificate && affordable && (is_dec_min || has_load) then
    Option.bind (Lazy.force context.certified) found
  else None

type verdict = {
  fields : (string * Documents.json) list;
  uncovered : string list;
  proved : bool found;
  is_search : bool found; (* whether the word of an engine is that it is the best *)
}

let allowed context =
  match context.balance_met with
  | _ when not context.budget_met -> Known false
  | balance_met -> balance_met

let written : Policy.value -> Documents.json = function
  | Number n -> Documents.number n
  | Numbers numbers -> `List (List.rev (List.rev_map Documents.number numbers))

let judge_level context ~affordable (stated : Policy.stated list) place (of_level, level) =
  let mine =
    List.fold_left
      (fun found (one : Policy.stated) -> if one.of_level = of_level then Some one else found)
      None stated
  in
  let value, scale =
    match value_of context level with
    | Known (value, scale) ->
        let unit = if Z.equal scale Z.one then [] else [ ("scale", Documents.number scale) ] in
        (Known value, unit)
    | Unknown -> (Unknown, [])
  in
  let claimed = Option.map (fun (one : Policy.stated) -> one.claimed_bound) mine in
  let rests_on, bound, engine =
    match Option.map (fun (one : Policy.stated) -> one.proof) mine with
    | None | Some Nothing -> ("nothing", Known claimed, None)
    | Some (Search engine) -> ("search", Known claimed, Some engine)
    | Some Certificate ->
        ("certificate", Known (of_certificate context ~affordable of_level level), None)
    | Some (Terms terms) -> ("terms", of_terms context of_level level terms, None)
  in
  let is_attained =
    match (value, bound) with
    | _, Known None -> Known false
    | Known value, Known (Some bound) -> Known (value = bound)
    | _ -> Unknown
  in
  let checked = rests_on = "certificate" || rests_on = "terms" in
  let proved =
    match (is_attained, allowed context) with
    | _ when not checked -> Known false
    | Known false, _ | _, Known false -> Known false
    | Known true, Known true -> Known true
    | _ -> Unknown
  in
  let field name write = function Known one -> [ (name, write one) ] | Unknown -> [] in
  let given name write = function Some one -> [ (name, write one) ] | None -> [] in
  let path name = Printf.sprintf "objectives.%d.%s" place name in
  let missing name = function Known _ -> [] | Unknown -> [ path name ] in
  {
    fields =
      [ ("of", `String of_level); ("rests_on", `String rests_on) ]
      @ field "value" written value
      @ scale
      @ (match bound with Known found -> given "bound" written found | Unknown -> [])
      @ given "engine" (fun name -> `String name) engine
      @ field "proved" (fun is_so -> `Bool is_so) proved;
    uncovered =
      missing "value" value @ missing "scale" value @ missing "bound" bound
      @ missing "proved" proved;
    proved;
    is_search = (if rests_on = "search" then is_attained else Known false);
  }

(* What the claim that all levels are proved is found to be. *)
let found_status context verdicts =
  let all_so = List.for_all (fun one -> one.proved = Known true || one.is_search = Known true) in
  let fails one = one.proved = Known false && one.is_search = Known false in
  match allowed context with
  | Known false -> Known "refuted"
  | Unknown -> Unknown
  | Known true when List.exists fails verdicts -> Known "unproved"
  | Known true when all_so verdicts ->
      let by_word = List.exists (fun one -> one.is_search = Known true) verdicts in
      Known (if by_word then "search" else "proved")
  | Known true -> Unknown

(* Whether a level proves the peak lag least of all valid assignments: one of which every
   valid assignment is in the region, where capacities do not count. *)
let proves_peak_lag context verdicts =
  let is_one c = Z.equal (context.group.document.capacity_at c) Z.one in
  let is_open () = Lazy.force context.region == Lazy.force context.unrestricted in
  let of_level (_, level) verdict =
    match level with
    | [ (weight, "peak-lag") ] when Z.equal weight Z.one -> verdict.proved
    | _ -> Known false
  in
  let found = List.map2 of_level context.policy.levels verdicts in
  match List.find_opt (fun proved -> proved <> Known false) found with
  | Some proved when List.for_all is_one context.playing && is_open () -> proved
  | _ -> Known false

(* Fields of a verdict, the names of those that are not covered, and whether a level proves
   the peak lag. *)
let judge context stated status =
  let policy = context.policy in
  let affordable =
    (not context.has_certificate)
    || (policy.balance <> "dec-min" && not (List.mem_assoc "load" policy.levels))
    || spend context
         ~by_rack:(context.shown_counts_racks || counts_racks (before_load policy))
         (3 + List.length policy.levels)
       && (before_load policy = []
          || Terms.affords context.work (Lazy.force context.narrowing))
  in
  let verdicts = List.mapi (judge_level context ~affordable stated) policy.levels in
  let balance_met, no_balance =
    match context.balance_met with
    | Known is_so -> ([ ("balance_met", `Bool is_so) ], [])
    | Unknown -> ([], [ "policy.balance_met" ])
  in
  let met =
    `Assoc
      ([ ("of", `String policy.text); ("budget_met", `Bool context.budget_met) ] @ balance_met)
  in
  let objectives = `List (List.map (fun one -> `Assoc one.fields) verdicts) in
  let status, no_status =
    match status with
    | Some "optimal" -> (
        match found_status context verdicts with
        | Known found ->
            let parts = [ ("claimed", `String "optimal"); ("found", `String found) ] in
            ([ ("status", `Assoc parts) ], [])
        | Unknown -> ([], [ "status" ]))
    | Some "infeasible" -> ([], [ "status" ])
    | _ -> ([], [])
  in
  let unjudged = [ "objectives.*.claimed"; "objectives.*.evidence" ] in
  ( [ ("policy", met); ("objectives", objectives) ] @ status,
    no_balance @ no_status
    @ List.concat_map (fun one -> one.uncovered) verdicts
    @ unjudged,
    proves_peak_lag context verdicts )
