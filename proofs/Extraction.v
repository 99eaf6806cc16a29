(** Nothing is proved here: what becomes OCaml code, and how. Integers are Zarith's, by the
    standard library's own table and the lines below, which only name Zarith's function for a
    test that would otherwise run bit by bit. *)

From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
From Assignor Require Import Definitions Keys Levels Tables Differences Checker CheckBalance
  CheckRegion CheckCertificate CheckNarrowed CheckPolicy CheckPeakLag.

Extract Inductive positive => "Big_int_Z.big_int"
  [ "(fun x -> Big_int_Z.succ_big_int (Integers.twice x))" "Integers.twice"
    "Big_int_Z.unit_big_int" ]
  "(fun odd even one p -> if Integers.is_one p then one () else
    if Integers.is_odd p then odd (Integers.half p) else even (Integers.half p))".
Extract Constant Pos.eqb => "Integers.equal".
Extract Constant Z.eqb => "Integers.equal".
Extract Constant Z.leb => "Integers.is_at_most".
Extract Constant Z.ltb => "Integers.is_less".

Extraction "core.ml" check_document sets_of check_valid players figures_of load_table
  keys_below place_table lowest_table check_balance row limit level_rows pool_names
  certificate_bound narrowed combined least_cost narrowed_bound
  check_even even_limits open_limits topic_sizes topic_rows topic_bound check_equal equal_rows
  topic_table check_per_topic candidates is_level_bound fewest values peak_value topic_peak_value
  spread_value rows_of is_able collect only check_term check_topics is_least_peak.
