(* judge_terms FILE: for each line, the terms of one level within a region that is given, print
   which of them hold and what they prove together. Only tests use this. *)

open Documents

let pool (group : Rebalance.t) path value =
  let found = fields path [ "topics"; "limits" ] value in
  let topics = required path found "topics" (list text) in
  let held = required path found "limits" entries in
  let number numbers name = Z.of_int (Hashtbl.find numbers name + 1) in
  ( List.map (number group.topic_number) topics,
    List.map
      (fun (name, one) -> (number group.member_number name, pair count path one))
      held )

let region (group : Rebalance.t) path value : Regions.t =
  let pools = Array.of_list (list (pool group) path value) in
  let names = List.init (Array.length pools) (fun k -> Z.of_int (k + 1)) in
  let at k = pools.(Z.to_int k - 1) in
  let pool_at t =
    let has k = List.exists (Z.equal t) (fst (at k)) in
    Option.value ~default:Z.one (List.find_opt has names)
  in
  let able k = List.map fst (snd (at k)) in
  let limits k c = List.assoc c (snd (at k)) in
  let instance = Core.instance_of group.document in
  { names; pool_at; rows = Core.rows_of instance names pool_at able limits }

let judged value : Json.t =
  let found = fields "$" [ "rebalance"; "pools"; "of"; "terms" ] value in
  let group = required "$" found "rebalance" (fun _ value -> Rebalance.(understand (read value))) in
  let region = required "$" found "pools" (region group) in
  let level =
    match required "$" found "of" text with
    | "peak-lag" -> Terms.Peak_lag
    | _ -> Terms.Topic_peak_lag
  in
  let terms = required "$" found "terms" (list Policy.term) in
  let proof = Terms.prove group region level terms { left = Terms.work_max } in
  let number n = `Intlit (Z.to_string n) in
  `Assoc
    [
      ("accepted", `List (List.map (fun one -> `Bool one) proof.accepted));
      ("bound", Option.fold ~none:`Null ~some:number proof.bound);
      ("scale", number proof.scale);
    ]

let () =
  let text = Pairs.content Sys.argv.(1) in
  List.iter
    (fun (_, start, stop) -> Json.write stdout (judged (Json.read text start stop)))
    (Pairs.lines_of text)
