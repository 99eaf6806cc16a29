(** Lower bounds on the sum of the topics' own peak lags, the objective [topic-peak-lag]: what
    an assignment does within one topic is an assignment of that topic alone, within the part of
    the region that is about it. So a bound on that topic alone, by any of the terms of
    [PeakLag.v] and [Crowd.v], is one on what the topic adds to the sum ([region_of_topic] of
    verify/policy/feasible_region.py, [together] of verify/policy/terms.py). *)

From Assignor Require Import Sums Region PeakLag.

(** If the pool has other topics too, nothing is known of the least of one topic. *)
Definition region_of_topic (r : region) (alone : bool) (t : topic) : region :=
  Region [pool_of r t] (pool_of r) (eligible r)
    (fun k c => if alone then least r k c else 0) (most r).

Definition is_alone (i : instance) (r : region) (t : topic) : Prop := forall p,
  In p (partitions i) -> pool_of_partition i r p = pool_of r t -> topic_of i p = t.

Lemma pairs_of_topic_spec i t a p c :
  In (p, c) (pairs_of_topic i t a) <-> In (p, c) a /\ topic_of i p = t.
Proof. by rewrite /pairs_of_topic filter_In Pos.eqb_eq. Qed.

Lemma pairs_of_topic_valid i t a : valid i a -> valid (of_topic i t) (pairs_of_topic i t a).
Proof.
  move=> [once pairs all]; have names : map fst (pairs_of_topic i t a) =
      filter (fun p => (topic_of i p =? t)%positive) (map fst a).
    by rewrite /pairs_of_topic; elim: (a) => //= pair l IH; case: Pos.eqb; rewrite /= IH.
  split=> /= [|p c /pairs_of_topic_spec [/pairs [known sub] same]|p]; rewrite ?names.
  - exact: NoDup_filter.
  - by rewrite filter_In Pos.eqb_eq.
  - by rewrite !filter_In => -[known same] /(all p known).
Qed.

Lemma pairs_of_topic_within i r alone t a : valid i a -> within i r a ->
  In (pool_of r t) (pools r) -> (alone = true -> is_alone i r t) ->
  within (of_topic i t) (region_of_topic r alone t) (pairs_of_topic i t a).
Proof.
  move=> v w known single; split=> [p c|p c|k c [<-|] //= able].
  { by move=> /pairs_of_topic_spec [_ same]; left; rewrite /pool_of_partition /= same. }
  { by move=> /pairs_of_topic_spec [inside _]; exact: (held_by_eligible i r a w p c). }
  have := loads_of_pools i r a w _ c known able.
  rewrite /load_in /pairs_of_topic sum_filter /= /pool_of_partition /=.
  set all := sum _ a; set mine := sum _ a => bounds.
  have : 0 <= mine <= all by split; [apply: sum_nonneg|apply: sum_le]; by_terms.
  case: alone single => [single|_] /=; last by lia.
  suff -> : mine = all by []; apply: sum_eq => -[p d] /(assigned_to_subscribers i a v) [there _].
  case: Pos.eqb_spec => // other; case: Z.eqb_spec => [same|_]; last by case: Pos.eqb.
  by case: other; exact: single.
Qed.

Theorem topic_peak_lag_bound i r scale (alone : topic -> bool) (bound : topic -> Z) ts a n :
  valid i a -> within i r a -> NoDup ts ->
  (forall t, In t ts -> In (pool_of r t) (pools r) /\ (alone t = true -> is_alone i r t) /\
     bounds_peak_lag (of_topic i t) (region_of_topic r (alone t) t) scale (bound t)) ->
  topic_peak_lag_at_most i a scale n -> sum bound ts <= n.
Proof.
  move=> v w once all [peak [peaks few]]; apply: Z.le_trans (few ts once); apply: sum_le => t there.
  have [known [single bounded]] := all t there; have [nonneg peaked] := peaks t.
  apply: (bounded (pairs_of_topic i t a)) nonneg peaked; first exact: pairs_of_topic_valid.
  exact: pairs_of_topic_within.
Qed.
