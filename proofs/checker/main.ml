(* checker INSTANCE ASSIGNMENT: print one verdict/1 per pair of documents. Each file has one
   document, or one per line; pairs are by position, or by id where all have one. Exit code:
   0 all valid, 1 some invalid, 2 unreadable input or bad usage. *)

open Lists

let number = Documents.number
let unproved = [ ("dec_min", `Bool false); ("stickiness", `Bool false); ("peak_lag", `Bool false) ]

let figures (found : Core.figures) dec_min =
  let largest_first = List.sort (fun one other -> Z.compare other one) in
  let loads = List.rev_map number (largest_first found.figure_loads) in
  let score =
    match found.figure_kip54_score with
    | Some score -> score
    | None -> raise (Documents.Defect "members are not in the order of their loads")
  in
  `Assoc
    ([
       ("loads", `List (List.rev loads));
       ("kept", number found.figure_kept);
       ("moves", number found.figure_moves);
       ("kip54_score", number score);
       ("kip54_balanced", `Bool found.figure_kip54_balanced);
     ]
    @ (if dec_min then [ ("dec_min_balanced", `Bool true) ] else [])
    @ [
        ("peak_lag", number found.figure_peak_lag);
        ("lag_spread", number found.figure_lag_spread);
        ("rack_mismatches", number found.figure_mismatches);
      ])

(* Fields of a verdict that no theorem is about, here and in any answer. *)
let never = [ "violations"; "more_violations"; "evidence" ]
let of_policies = [ "policy"; "objectives"; "status" ]

let verdict id word parts uncovered : Json.t =
  let id = match id with Some id -> [ ("id", `String id) ] | None -> [] in
  let names = List.map (fun name -> `String name) (never @ uncovered) in
  `Assoc
    (((("format", `String "verdict/1") :: id) @ [ ("verdict", `String word) ])
    @ parts
    @ [ ("not_covered", `List names) ])

type proof = {
  dec_min : bool;
  stickiness : bool;
  certified : Levels.certified option;
  region : Regions.t option; (* of all dec-min assignments *)
}

let nothing = { dec_min = false; stickiness = false; certified = None; region = None }

(* Members by load, smallest first. *)
let by_load (group : Rebalance.t) loads =
  let held = List.rev_map (fun c -> (Core.get loads c, c)) group.document.member_list in
  List.rev_map snd (List.sort (fun (one, _) (other, _) -> Z.compare other one) held)

(* What a certificate proves of a document of the group, if it does: the region of all that
   are as balanced, and by [bound] what they cost. *)
let certified_in (group : Rebalance.t) document pairs loads (certificate : Certificate.t) bound =
  let threshold = Certificate.threshold_of certificate in
  let scale = certificate.scale and largest = certificate.largest in
  let places = Core.place_table document threshold scale largest in
  let lowest = Core.lowest_table document places in
  if
    Certificate.levels_count group certificate
    && Core.check_balance document threshold scale largest places lowest loads pairs
  then
    let region = Regions.levels document threshold places lowest in
    let price = Certificate.price_of certificate in
    let stop = Certificate.stops (fun _ -> price) region.rows region.names in
    let x = certificate.per_move and y = certificate.per_mismatch in
    let cost = bound lowest region.rows price stop x y in
    Some (region, { Levels.per_move = x; per_mismatch = y; cost })
  else None

let proof_of (group : Rebalance.t) pairs loads (found : Core.figures) certificate =
  let document = group.document in
  let bound = Core.certificate_bound document in
  match certified_in group document pairs loads certificate bound with
  | None -> nothing
  | Some (region, certified) ->
      let { Levels.per_move; per_mismatch; cost } = certified in
      let any = Core.candidates document None and none = (Z.zero, Z.zero) in
      let proves =
        Core.is_level_bound document any per_move per_mismatch cost [] (Z.one, Z.zero) none
      in
      {
        dec_min = true;
        stickiness = proves found.figure_moves;
        certified = Some certified;
        region = Some region;
      }

(* The same where sums of moves and mismatches come first: of those as good in these. *)
let narrowed_proof (group : Rebalance.t) pairs loads counts certificate levels
    (found : Narrowed.t) =
  let document = group.document in
  Option.bind (Narrowed.document_of document pairs counts levels found) (fun narrowed ->
      let bound = Core.narrowed_bound document found.parts found.part_at found.best_of in
      Option.map snd (certified_in group narrowed pairs loads certificate bound))

(* The balance of a policy: whether it is met, and the region of what it allows. *)
let balance_of (group : Rebalance.t) pairs loads playing (found : Core.figures) proof scale
    (policy : Policy.t) :
    bool Levels.found * Regions.t Lazy.t * Regions.t Lazy.t =
  let document = group.document in
  let sizes = lazy (Core.topic_sizes document) in
  let unrestricted = lazy (Regions.unrestricted group (Lazy.force sizes)) in
  match policy.balance with
  | "per-topic" ->
      let threshold = Regions.thresholds group (Lazy.force sizes) in
      let loads = Core.topic_table document (fun _ -> Z.one) pairs in
      let met = Core.check_per_topic document threshold loads in
      (Known met, lazy (Regions.per_topic group threshold), unrestricted)
  | "dec-min" ->
      let region () =
        match (Regions.equal group (Lazy.force sizes), proof.region) with
        | Some region, _ | None, Some region -> region
        | None, None -> Lazy.force unrestricted
      in
      ((if proof.dec_min then Known true else Unknown), lazy (region ()), unrestricted)
  | "kip54" -> (Known found.figure_kip54_balanced, unrestricted, unrestricted)
  | "none" -> (Known true, unrestricted, unrestricted)
  | _ ->
      let scale = Lazy.force scale in
      let spread = Levels.spread document scale loads playing in
      let most = Z.mul (Option.get policy.spread_max) scale in
      (Known (Z.leq spread most), unrestricted, unrestricted)

(* The parts of a verdict about the policy, and what of it is not covered. *)
let judge_policy (group : Rebalance.t) (given : Answer.t) loads playing (found : Core.figures)
    proof scale =
  match (given.policy, given.status) with
  | None, Some "optimal" when proof.dec_min ->
      let word = if proof.stickiness then "proved" else "unproved" in
      let status = `Assoc [ ("claimed", `String "optimal"); ("found", `String word) ] in
      ([ ("status", status) ], [], Levels.Known false)
  | None, status -> ([], (if status = Some "optimal" then [ "status" ] else []), Known false)
  | Some policy, status ->
      let balance_met, region, unrestricted =
        balance_of group given.pairs loads playing found proof scale policy
      in
      let instance = Core.instance_of group.document in
      let counts = (found.figure_moves, found.figure_mismatches) in
      let settled = Levels.before_load policy in
      let narrowed = lazy (Narrowed.parts_of group.document settled) in
      let context : Levels.t =
        {
          group;
          policy;
          counts;
          playing;
          loads;
          lags = lazy (Core.lag_table instance given.pairs);
          topic_lags = lazy (Core.topic_table group.document instance.lag given.pairs);
          scale;
          balance_met;
          budget_met =
            (match policy.max_moves with
            | Some most -> Z.leq found.figure_moves most
            | None -> true);
          certified =
            lazy
              (match (settled, given.certificate) with
              | [], _ -> proof.certified
              | levels, Some certificate ->
                  let parts = Lazy.force narrowed in
                  narrowed_proof group given.pairs loads counts certificate levels parts
              | _, None -> None);
          has_certificate = given.has_certificate;
          region;
          unrestricted;
          within_budget = lazy (Core.candidates group.document policy.max_moves);
          any_moves = lazy (Core.candidates group.document None);
          pass = lazy (Levels.steps_of_pass group);
          rack_steps = lazy (Levels.steps_of_racks group);
          shown_counts_racks = given.counts_racks;
          narrowing = lazy (Views.steps_per_best * (Lazy.force narrowed).members);
          work = { left = Terms.work_max };
        }
      in
      Levels.judge context given.stated status

let judge instance answer =
  let group = Rebalance.understand instance in
  let given = Answer.of_group group answer in
  let document = group.document in
  if not (Core.check_document document) then raise (Documents.Defect "the reader numbered wrongly");
  let scale = lazy (Regions.common_capacity group) in
  let divides = Option.fold ~none:false ~some:Policy.is_divided given.policy in
  if divides then ignore (Lazy.force scale);
  let instance = Core.instance_of document in
  let sets = Core.sets_of document in
  if given.names_agree && Core.check_valid document sets given.pairs then
    let loads = Core.load_table given.pairs in
    let playing = Core.players instance in
    let found = Core.figures_of document loads playing (by_load group loads) given.pairs in
    let proof =
      match given.certificate with
      | Some certificate -> proof_of group given.pairs loads found certificate
      | None -> nothing
    in
    let undecided = if proof.dec_min then [] else [ "figures.dec_min_balanced" ] in
    let stated, uncovered, by_level =
      judge_policy group given loads playing found proof scale
    in
    let is_least = group.states_lag && Core.is_least_peak document found.figure_peak_lag in
    let peak_lag, no_peak_lag =
      match by_level with
      | Levels.Known is_so -> ([ ("peak_lag", `Bool (is_least || is_so)) ], [])
      | Unknown when is_least -> ([ ("peak_lag", `Bool true) ], [])
      | Unknown -> ([], [ "proved.peak_lag" ])
    in
    let proved =
      `Assoc
        ([ ("dec_min", `Bool proof.dec_min); ("stickiness", `Bool proof.stickiness) ] @ peak_lag)
    in
    ( verdict group.id "valid"
        ([ ("figures", figures found proof.dec_min); ("proved", proved) ] @ stated)
        (undecided @ no_peak_lag @ uncovered),
      0 )
  else (verdict group.id "invalid" [ ("proved", `Assoc unproved) ] ("figures" :: of_policies), 1)

let nothing_found =
  [ ("figures", `Assoc []); ("proved", `Assoc unproved) ]

let unreadable id document (path, reason) =
  let culprit =
    [ ("document", `String document); ("path", `String path); ("reason", `String reason) ]
  in
  let evidence = ("evidence", `Assoc [ ("unreadable", `Assoc culprit) ]) in
  (verdict id "unreadable" (nothing_found @ [ evidence ]) [], 2)

let complain message =
  prerr_endline ("checker: " ^ message);
  2

(* No verdict, for want of memory, or because of a defect: of this pair alone. *)
let undecided id reason =
  let evidence = ("evidence", `Assoc [ ("unknown", `String reason) ]) in
  (verdict id "unknown" [ evidence ] ([ "figures"; "proved" ] @ of_policies), complain reason)

let judge_pair (instance : Rebalance.written Pairs.entry) (answer : Answer.written Pairs.entry) =
  let id = instance.id in
  match (instance.found, answer.found) with
  | Error culprit, _ -> unreadable id "instance" culprit
  | _, Error culprit -> unreadable id "assignment" culprit
  | Ok group, Ok given -> (
      try judge group given with
      | Documents.Unreadable (path, reason) -> unreadable id "instance" (path, reason)
      | Documents.Defect reason -> undecided id ("defect of the reader: " ^ reason)
      | Stack_overflow | Out_of_memory -> undecided id "not enough memory for this pair")

let judge_all instances answers =
  let read_instance = Pairs.entries instances Rebalance.read (fun one -> one.Rebalance.named) in
  let read_answer = Pairs.entries answers Answer.read (fun one -> one.Answer.id) in
  let judge_one worst (instance, answer) =
    let found, code = judge_pair instance answer in
    Json.write stdout found;
    flush stdout;
    max worst code
  in
  List.fold_left judge_one 0 (Pairs.paired read_instance read_answer)

let () =
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 20; space_overhead = 200 };
  exit
    (try
       match Sys.argv with
       | [| _; "-"; "-" |] -> complain "only one of INSTANCE and ASSIGNMENT can be standard input"
       | [| _; instances; answers |] -> judge_all instances answers
       | _ -> complain "usage: checker INSTANCE ASSIGNMENT"
     with
     | Sys_error reason | Pairs.Mismatch reason -> complain reason
     | Out_of_memory | Stack_overflow -> complain "not enough memory for input of this size")
