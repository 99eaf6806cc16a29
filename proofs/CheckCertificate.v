(** The executable check of the prices of a certificate: [certificate_bound] is no more than
    the weighted moves and mismatches of any dec-min balanced assignment. All of these are
    within the region of the levels ([level_region_sound]).

    This is [level_pools] of verify/certificate.py, and its bound on costs. *)

From Assignor Require Import Sums Keys Balance Region Prices.
From Assignor Require Import Tables Checker CheckBalance CheckRegion.

Section Certificate.

Variables (d : document) (threshold : member -> key) (scale largest : Z).
Let i := instance_of d.

(** The pools of a certificate: topics of one lowest place, the members of that place who
    subscribe to any of them, and the bounds on their loads. *)
Definition pool_at (lowest : Map.t Z) (t : topic) : Z := Z.max 1 (get lowest t).

Definition used_topics : list topic := unique (topic_of i) (partitions i).

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
  have pos t : 0 < pool_at lowest t by rewrite /pool_at; lia.
  have [vb [_ loads least]] := proj1 (face_of_thresholds i threshold a wf va w b) best.
  have placed p c : In (p, c) b -> In p (partitions i) /\ In c (subscribes i p) /\
      In c (members i) /\ get places c = pool_at lowest (topic_of i p).
    move=> held; have [there sub] := assigned_to_subscribers i b vb p c held.
    have [low [e [sub_e same]]] := lowest_spec d places p c known sub.
    have in_c := subscriber_is_member d known p c sub.
    have in_e := subscriber_is_member d known p e sub_e.
    have : get places c <= get places e.
      rewrite /places /place_table !get_tabulate //.
      exact: (proj1 (place_le scale largest _ _ (keys c in_c) (keys e in_e)) (least p c e held _)).
    by have := positive p c sub; rewrite /pool_at /lowest -/i in low same *; intuition lia.
  split=> [p c /placed [there _]|p c /placed [there [sub [inside same]]]|].
  - apply/in_collect; exists (Z.to_pos (pool_at lowest (topic_of i p))); rewrite Z2Pos.id //.
    split=> //; apply: (in_unique (fun t => Z.to_pos (pool_at lowest t))); exact: in_unique.
  - apply/in_select; rewrite /= Z2Pos.id // same Z.eqb_refl; split=> //.
    apply/is_in_set_of; rewrite map_id; apply/in_flatten; exists (topic_of i p).
    by split; [exact: in_unique|apply/in_select; rewrite same Z.eqb_refl].
  - move=> k c /in_collect [name [<- _]] /in_select [inside /andb_true_iff [/Z.eqb_eq at_k _]].
    rewrite /limits_of /= !(get_tabulate _ _ c inside) (_ : load_in _ _ b _ c = load b c).
      apply: sum_eq => -[p e] /placed [_ [_ [_ same]]] /=; case: Pos.eqb_spec => //= equal.
      by rewrite /pool_of_partition /= -same equal at_k Z.eqb_refl.
    exact: loads.
Qed.

Theorem certificate_bound_sound a price stop x y b : valid i a ->
  check_balance d threshold scale largest places lowest (load_table a) a = true ->
  dec_min i b ->
  certificate_bound lowest (level_rows places lowest) price stop x y
    <= x * moves i b + y * mismatches i b.
Proof.
  move=> va accepted best; apply: fast_bound_sound => // [|k _|t||].
  - exact: (proj1 (unique_spec _ _)).
  - exact: select_once (members_once i (check_document_sound d known)).
  - by rewrite /pool_at; lia.
  - exact: (proj1 best).
  - exact: (level_region_sound a).
Qed.

End Certificate.
