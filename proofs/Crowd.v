(** The pigeonhole bound on peak lag: the terms [crowd] and [topic-crowd] of
    [docs/bounds.md], as [verify/policy/pigeonhole.py] accepts them.

    A crowd is a set of partitions, those with a large lag. With peak lag below the bound
    no member can hold more of them than its [cap], and the caps come to fewer than the
    crowd has. The judge finds the least lag of a member that holds j of the crowd from
    the j smallest steps. That lag is a convex function of j, so a slope at [cap] proves
    the same, and no list has to be sorted here: for any integers, [gain] per partition of
    the crowd that the member holds (0 or more), and [price] per partition of each pool,

        lag held - gain * held of the crowd  >=  [least_reduced],

    where each partition that the member may hold counts if its reduced lag is negative,
    and the price is paid for the least or the most of a pool, whichever is less. *)

From Assignor Require Import Sums Region PeakLag.

Section Crowd.

Variables (i : instance) (r : region) (crowd : partition -> bool).
Variables (candidate : member -> partition -> bool) (pools_of : member -> list pool).
Variables (gain : member -> Z) (price : member -> pool -> Z).

Definition reduced (c : member) (p : partition) : Z :=
  lag i p - (if crowd p then gain c else 0) - price c (pool_of_partition i r p).

Definition least_reduced (c : member) : Z :=
  sum (fun p => if candidate c p then Z.min 0 (reduced c p) else 0) (assignable_partitions i)
  + sum (fun k => Z.min (price c k * least r k c) (price c k * most r k c)) (pools_of c).

Definition held_of_crowd (a : assignment) : member -> Z :=
  held a (fun p => if crowd p then 1 else 0).

Hypothesis wf : well_formed i.
Hypothesis candidates_complete : forall p c, In p (partitions i) ->
  may_hold i r p c -> candidate c p = true.
Hypothesis pools_of_once : forall c, NoDup (pools_of c).
Hypothesis pools_of_spec : forall c k,
  In k (pools_of c) <-> In k (pools r) /\ In c (eligible r k).

Lemma pools_paid a c : valid i a -> within i r a ->
  sum (fun k => Z.min (price c k * least r k c) (price c k * most r k c)) (pools_of c)
  <= sum (fun pair => if (snd pair =? c)%positive
                      then price c (pool_of_partition i r (fst pair)) else 0) a.
Proof.
  move=> v w; pose mine := filter (fun pair => (snd pair =? c)%positive) a.
  rewrite -sum_filter -/mine (sum_by_pool i r (pools_of c)) // => [p d|].
    move=> /filter_In [inside /Pos.eqb_eq /= <-]; apply/pools_of_spec.
    by split; [exact: (pools_known i r a w p d)|exact: (held_by_eligible i r a w p d)].
  apply: sum_le => k /pools_of_spec [known able].
  apply: (Z.le_trans _ (price c k * load_in i r a k c)).
    by have := loads_of_pools i r a w k c known able; case: (Z.le_ge_cases 0 (price c k)); nia.
  rewrite /load_in -sum_scale /mine sum_filter; apply: sum_le => -[p d] _ /=.
  by case: Z.eqb_spec => [->|_]; by_terms.
Qed.

Lemma least_reduced_spec a c : valid i a -> within i r a ->
  least_reduced c <= lag_held i a c - gain c * held_of_crowd a c.
Proof.
  move=> v w; apply: Z.le_trans (Zplus_le_compat_l _ _ _ (pools_paid a c v w)) _.
  rewrite -(sum_assigned i a) // /lag_held /held_of_crowd /held -sum_scale -sum_sub -sum_add.
  apply: sum_le => -[p d] inside /=; have [known _] := assigned_to_subscribers i a v p d inside.
  have := candidates_complete p c known; have := holder_may_hold i r a v w p d inside.
  case: Pos.eqb_spec => [->|_] may complete; last by case: candidate; lia.
  by rewrite complete // /reduced; case: crowd; lia.
Qed.

Theorem crowd_bound scale bound (some : list member) (cap : member -> Z) :
  0 < scale -> NoDup some -> incl some (members i) ->
  (forall p c, In p (partitions i) -> crowd p = true -> may_hold i r p c -> In c some) ->
  (forall c, In c some -> 0 <= gain c /\
     (bound - 1) * capacity i c < scale * (gain c * (cap c + 1) + least_reduced c)) ->
  sum cap some < sum (fun p => if crowd p then 1 else 0) (assignable_partitions i) ->
  bounds_peak_lag i r scale bound.
Proof.
  move=> ps once known only capped few a v w n pn peak; apply/Z.nlt_ge => low.
  rewrite (held_by_some i r a _ some) // in few.
    by move=> p c inside; case yes: (crowd p) => // _; exact: (only p).
  apply: (Zlt_not_le _ _ few); apply: sum_le => c inside; apply/Z.nlt_ge => many.
  have [pg large] := capped c inside; have := least_reduced_spec a c v w.
  have := peak c (known c inside); have pc := capacity_is_positive i wf c => at_most reduced_most.
  have : gain c * (cap c + 1) <= gain c * held_of_crowd a c by rewrite /held_of_crowd; nia.
  have : n * capacity i c <= (bound - 1) * capacity i c by nia.
  nia.
Qed.

End Crowd.
