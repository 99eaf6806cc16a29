(** Lower bounds on peak lag that hold for all valid assignments within a region: the
    terms [zero], [average] and [packing] of [docs/bounds.md], as [verify/policy/terms.py]
    accepts them. The term [crowd] is in [Crowd.v].

    [average]: partitions that only some members may hold bring these their lag.
    [packing]: some member holds its share of all weight, and any partitions of so much
    weight have at least the lag that a knapsack table ([lightest]) finds. *)

From Assignor Require Import Sums Region.

(** Values are in units of 1 / scale. No value of [n] below the bound is possible. *)
Definition bounds_peak_lag (i : instance) (r : region) (scale bound : Z) : Prop :=
  forall a, valid i a -> within i r a ->
  forall n, 0 <= n -> peak_lag_at_most i a scale n -> bound <= n.

(** What a member holds of partitions with values. *)
Definition held (a : assignment) (f : partition -> Z) (c : member) : Z :=
  sum (fun pair => if (snd pair =? c)%positive then f (fst pair) else 0) a.

(** Values of partitions that only some members may hold are held by these. *)
Lemma held_by_some i r a (f : partition -> Z) (some : list member) :
  well_formed i -> valid i a -> within i r a -> NoDup some ->
  (forall p c, In p (partitions i) -> f p <> 0 -> may_hold i r p c -> In c some) ->
  sum f (assignable_partitions i) = sum (held a f) some.
Proof.
  move=> wf v w once only; rewrite -(sum_assigned i a) //.
  rewrite (sum_by_holder some) // => p c inside /= is_some.
  apply: (only p) (holder_may_hold i r a v w p c inside) => //.
  by case/(assigned_to_subscribers i a v): inside.
Qed.

Theorem average_bound i r scale bound (counted : partition -> bool) (some : list member) :
  well_formed i -> 0 < scale -> NoDup some -> incl some (members i) ->
  (forall p c, In p (partitions i) -> counted p = true -> may_hold i r p c -> In c some) ->
  (bound - 1) * Z.max 1 (sum (capacity i) some)
    < scale * sum (fun p => if counted p then lag i p else 0) (assignable_partitions i) ->
  bounds_peak_lag i r scale bound.
Proof.
  move=> wf ps once known only large a v w n pn peak.
  rewrite (held_by_some i r a _ some) // in large.
    by move=> p c inside; case yes: (counted p) => // _; exact: (only p).
  have : scale * sum (held a (fun p => if counted p then lag i p else 0)) some
         <= n * sum (capacity i) some.
    rewrite -!sum_scale; apply: sum_le => c inside.
    have := peak c (known c inside).
    suff : held a (fun p => if counted p then lag i p else 0) c <= lag_held i a c by nia.
    by apply: sum_le => -[p d] _; have := lag_is_count i wf p; by_terms.
  have := sum_nonneg (capacity i) some (fun c _ => Z.lt_le_incl _ _ (capacity_is_positive i wf c)).
  nia.
Qed.

(** Packing. *)
(** Whether a member holds a partition. *)
Definition holds (a : assignment) (c : member) (p : partition) : bool :=
  0 <? sum (fun pair => if (fst pair =? p)%positive
                        then if (snd pair =? c)%positive then 1 else 0 else 0) a.

Lemma held_chosen i a (f : partition -> Z) c : well_formed i -> valid i a ->
  held a f c = sum (fun p => if holds a c p then f p else 0) (assignable_partitions i).
Proof.
  move=> wf v; rewrite -(sum_assigned i a) //; apply: sum_eq => -[p d] inside; rewrite /= /holds.
  rewrite (sum_of_holder (fun e => if (e =? c)%positive then 1 else 0) a p d) //.
    exact: assigned_once v.
  by case: Pos.eqb.
Qed.

(** The knapsack table: at each weight up to a share, the least lag of partitions of that
    weight or more. An item takes a place, or not. *)
Fixpoint least_of (added : Z) (t u : list Z) : list Z :=
  match t, u with
  | x :: t, y :: u => Z.min x (y + added) :: least_of added t u
  | _, _ => []
  end.

Definition with_item (t : list Z) (item : Z * Z) : list Z :=
  let shift := Nat.min (Z.to_nat (fst item)) (pred (length t)) in
  least_of (snd item) t (repeat (nth 0 t 0) shift ++ t).

Definition lightest (items : list (Z * Z)) (share : Z) : Z :=
  let beyond := 1 + sum snd items in
  nth (Z.to_nat share) (fold_left with_item items (0 :: repeat beyond (Z.to_nat share))) 0.

Definition no_more (t : list Z) (weight lag : Z) : Prop :=
  0 <= weight /\ 0 <= lag /\ forall j, Z.of_nat j <= weight -> nth j t 0 <= lag.

Lemma least_of_nth added t u j :
  nth j (least_of added t u) 0 <= Z.max 0 (Z.min (nth j t 0) (nth j u 0 + added)).
Proof. elim: t u j => [|x t IH] [|y u] [|j] //=; try lia; exact: IH. Qed.

Lemma with_item_no_more t item weight lag (taken : bool) : 0 <= fst item -> 0 <= snd item ->
  no_more t weight lag -> no_more (with_item t item)
    (weight + if taken then fst item else 0) (lag + if taken then snd item else 0).
Proof.
  move=> pi ps [pw [pl H]]; rewrite /with_item; set shift := Nat.min _ _.
  do 2 (split; first by case: taken; lia); move=> j at_most.
  have := least_of_nth (snd item) t (repeat (nth 0 t 0) shift ++ t) j.
  case: taken at_most => at_most; last by have := H j; lia.
  suff : nth j t 0 <= 0 \/ nth j (repeat (nth 0 t 0) shift ++ t) 0 <= lag by lia.
  case: (Nat.lt_ge_cases j (length t)) => [short|long]; last by left; rewrite nth_overflow.
  right; case: (Nat.lt_ge_cases j shift) => [early|late]; last first.
    by rewrite app_nth2 repeat_length //; apply: H; lia.
  rewrite app_nth1 ?repeat_length // (nth_indep _ _ (nth 0 t 0)) ?repeat_length // nth_repeat.
  exact: H.
Qed.

Lemma lightest_is_least (w v : partition -> Z) (keep : partition -> bool) l share :
  (forall p, In p l -> 0 <= w p /\ 0 <= v p) -> 0 <= share ->
  share <= sum (fun p => if keep p then w p else 0) l ->
  lightest (map (fun p => (w p, v p)) l) share <= sum (fun p => if keep p then v p else 0) l.
Proof.
  move=> positive ps enough; rewrite /lightest; move: (1 + _) => beyond.
  suff [_ [_ least]] : no_more (fold_left with_item (map (fun p => (w p, v p)) l)
      (0 :: repeat beyond (Z.to_nat share))) (sum (fun p => if keep p then w p else 0) l)
      (sum (fun p => if keep p then v p else 0) l) by apply: least; rewrite Z2Nat.id.
  elim/rev_ind: l positive {enough} => [|p l IH] positive.
    by split=> //; split=> // j small; have -> : j = 0%nat by move: small => /=; lia.
  have [pw pv] := positive p (in_elt _ _ _); rewrite map_app fold_left_app !sum_app /= !Z.add_0_r.
  apply: (with_item_no_more _ (w p, v p)) => //; apply: IH => q inside.
  by apply/positive/in_app_iff; left.
Qed.

Theorem packing_bound i r scale bound (weight : partition -> Z) (some : list member) share unit :
  well_formed i -> 0 < scale -> NoDup some -> incl some (members i) ->
  (forall p, In p (partitions i) -> 0 <= weight p) ->
  (forall p c, In p (partitions i) -> weight p <> 0 -> may_hold i r p c -> In c some) ->
  0 <= share ->
  (share - 1) * Z.of_nat (length some) < sum weight (assignable_partitions i) ->
  0 <= unit -> (forall c, In c some -> unit * capacity i c <= scale) ->
  bound <= unit * lightest (map (fun p => (weight p, lag i p))
    (filter (fun p => negb (weight p =? 0)) (assignable_partitions i))) share ->
  bounds_peak_lag i r scale bound.
Proof.
  move=> wf ps once known positive only pshare large pu units small a v w n pn peak.
  rewrite (held_by_some i r a _ some) // in large.
  have lags p := lag_is_count i wf p; apply/Z.nlt_ge => low; apply: (Zlt_not_le _ _ large).
  rewrite Z.mul_comm -sum_const; apply: sum_le => c inside; apply/Z.nlt_ge => few.
  have enough : share <= held a weight c by lia.
  set l := filter _ _ in small.
  have light : lightest (map (fun p => (weight p, lag i p)) l) share <= lag_held i a c.
    change (lag_held i a c) with (held a (lag i) c); rewrite !(held_chosen i) // in enough *.
    apply: (Z.le_trans _ (sum (fun p => if holds a c p then lag i p else 0) l)); last first.
      by rewrite sum_filter; apply: sum_le => p _; have := lags p; by_terms.
    apply: lightest_is_least => // [p /filter_In [/filter_In [h _] _]|]; first by auto.
    apply: (Z.le_trans _ _ _ enough); rewrite /l sum_filter; apply: sum_le => p _.
    by case: Z.eqb_spec => [->|_]; by_terms.
  have nonneg : 0 <= lag_held i a c.
    by apply: sum_nonneg => pair _; have := lags (fst pair); by_terms.
  have := peak c (known c inside); have := capacity_is_positive i wf c.
  have := units c inside; have : n < unit * lag_held i a c by nia.
  nia.
Qed.
