(** The executable check of the prices of a certificate: [certificate_bound] is no more than
    the weighted moves and mismatches of any dec-min balanced assignment. All of these are
    within the region of the levels ([level_region_sound]).

    This is [level_pools] of verify/certificate.py, and its bound on costs. *)

From Assignor Require Import Sums Keys Balance Region Prices RegionOfBalance.
From Assignor Require Import Tables Checker CheckBalance CheckRegion.

Section Certificate.

Variables (d : document) (threshold : member -> key) (scale largest : Z).
Let i := instance_of d.

(** The pools of a certificate: topics of one lowest place, the members of that place who
    subscribe to any of them, and the bounds on their loads. *)
Definition pool_at (lowest : Map.t Z) (t : topic) : Z := Z.max 1 (get lowest t).

Definition used_topics : list topic :=
  let sizes := tally (topic_of i) (fun _ => 1) (partitions i) in
  select (fun t => 0 <? get sizes t) (topic_list d).

Definition pool_names (lowest : Map.t Z) : list positive :=
  unique (fun t => Z.to_pos (pool_at lowest t)) used_topics.

Definition at_lowest (places lowest : Map.t Z) : Map.t unit :=
  set_of id (flatten (fun t => select (fun c => get places c =? pool_at lowest t)
    (subscribers i t)) used_topics).

Definition able (places : Map.t Z) (lowest_ones : Map.t unit) (name : positive) : list member :=
  select (fun c => (get places c =? Zpos name) && is_in c lowest_ones) (members i).

Definition limits_of (lows highs : Map.t Z) (name : positive) (c : member) : Z * Z :=
  (get lows c, get highs c).

Definition level_rows (places lowest : Map.t Z) : Map.t pool_row :=
  let ones := at_lowest places lowest in
  let lows := tabulate (fun c => keys_below (capacity i c) (threshold c)) (members i) in
  let highs := tabulate (fun c => keys_upto (capacity i c) (threshold c)) (members i) in
  rows_of i (pool_names lowest) (pool_at lowest) (able places ones) (limits_of lows highs).

Definition certificate_bound (lowest : Map.t Z) (rows : Map.t pool_row)
    (price : member -> Z) (stop : Z -> Z) (x y : Z) : Z :=
  fast_bound d (pool_names lowest) (pool_at lowest) rows (fun _ => price) stop x y.

Hypothesis known : check_document d = true.
Let places := place_table d threshold scale largest.
Let lowest := lowest_table d places.

Lemma used p c : In p (partitions i) -> In c (subscribes i p) -> In (topic_of i p) used_topics.
Proof.
  move=> there sub; apply/in_select; split; first exact: topic_known sub.
  rewrite get_tally; apply/Z.ltb_lt; apply: Z.lt_le_trans (sum_element _ _ p _ there).
    by rewrite Pos.eqb_refl.
  by by_terms.
Qed.

Theorem level_region_sound a b : valid i a ->
  check_balance d threshold scale largest places lowest (load_table a) a = true ->
  dec_min i b ->
  within i (loose_region (pool_names lowest) (pool_at lowest)
    (able places (at_lowest places lowest))
    (limits_of (tabulate (fun c => keys_below (capacity i c) (threshold c)) (members i))
       (tabulate (fun c => keys_upto (capacity i c) (threshold c)) (members i)))) b.
Proof.
  move=> va accepted best; have wf := check_document_sound d known.
  have [w _] := check_balance_sound d threshold scale largest known a va accepted.
  have keys c : In c (members i) -> is_key scale largest (threshold c) = true.
    move: accepted; rewrite /check_balance andb_true_iff !forallb_forall => -[all _] /all.
    by rewrite !andb_true_iff; intuition.
  have positive p c : In c (subscribes i p) -> 0 < get places c.
    move=> sub; have here := subscriber_is_member d known p c sub.
    by rewrite /places /place_table get_tabulate //; apply/place_positive/keys.
  have taken p : assignable i p -> exists e, In e (subscribes i p) /\
      get places e = get lowest (topic_of i p) by exact: lowest_attained.
  have pool p : assignable i p -> pool_at lowest (topic_of i p) = get lowest (topic_of i p).
    by move=> /taken [e [/positive pos same]]; rewrite /pool_at -same; lia.
  have limit f c (inside : In c (members i)) := (get_tabulate f _ c inside).
  pose able_in k := if 0 <? k then able places (at_lowest places lowest) (Z.to_pos k) else [].
  suff [pools_b held_b loads_b] : within i (Region (collect Zpos (pool_names lowest))
      (pool_at lowest) able_in (fun _ c => keys_below (capacity i c) (threshold c))
      (fun _ c => keys_upto (capacity i c) (threshold c))) b.
    split=> // [p c /held_b|k c there]; first by rewrite /= /able_in; case: Z.ltb.
    have := loads_b k c there; have /in_collect [name [<- _]] := there => /= loads inside.
    by have /in_select [member _] := inside; rewrite /limits_of /= !limit //; exact: loads.
  apply: (thresholds_give_region i threshold (get places) _ _ _ a) => //; last first.
    move=> c e in_c in_e; rewrite /places /place_table !get_tabulate //.
    exact: (proj1 (place_le scale largest _ _ (keys c in_c) (keys e in_e))).
  split=> [p c there sub|p there some|k c|p c there sub same].
  + by rewrite pool; [exact: subscribed_assignable sub|exact: lowest_le].
  + by rewrite pool //; exact: taken.
  + rewrite /able_in; case: Z.ltb_spec => // more /in_select [inside /andb_true_iff [same _]].
    by split=> //; move/Z.eqb_eq: same; rewrite Z2Pos.id.
  + have here := used p c there sub; have pos := positive p c sub.
    have name : Zpos (Z.to_pos (pool_at lowest (topic_of i p))) = pool_at lowest (topic_of i p).
      by rewrite Z2Pos.id // -same.
    split.
      apply/in_collect; eexists; split; first exact: name.
      exact: (in_unique (fun t => Z.to_pos (pool_at lowest t))).
    rewrite /able_in -same; case: Z.ltb_spec => [_|]; last by lia.
    apply/in_select; split; first exact: subscriber_is_member sub.
    rewrite andb_true_iff Z2Pos.id // Z.eqb_refl; split=> //.
    apply/is_in_set_of; rewrite map_id; apply/in_flatten; exists (topic_of i p); split=> //.
    by apply/in_select; rewrite same Z.eqb_refl.
Qed.

Theorem certificate_bound_sound a price stop x y b : valid i a ->
  check_balance d threshold scale largest places lowest (load_table a) a = true ->
  dec_min i b ->
  certificate_bound lowest (level_rows places lowest) price stop x y
    <= x * moves i b + y * mismatches i b.
Proof.
  move=> va accepted best; apply: fast_bound_sound => //.
  - exact: (proj1 (unique_spec _ _)).
  - by move=> k _; apply: select_once; exact: members_once (check_document_sound d known).
  - by move=> t; rewrite /pool_at; lia.
  - exact: (proj1 best).
  - exact: (level_region_sound a).
Qed.

End Certificate.
