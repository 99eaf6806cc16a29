(** Prices bound moves and rack mismatches: for any prices, no assignment within a region
    has a smaller a * moves + b * mismatches than [price_bound]. With levels as pools this
    is what a certificate proves of stickiness ([cost_bound] of [verify/certificate.py]);
    with topics as pools it is the term [prices] of [docs/bounds.md].

    Each partition pays its member's price and gets it back. So the cost is the sum over
    partitions of cost plus price, each at least that of the cheapest member that may
    hold it, less the sum over members of price times load. That is at most what [paid]
    says, for any integer [stop] per pool; [most_paid] of the judge, which fills the
    largest prices first, is the case in which [stop] is the price where the units end. *)

From Assignor Require Import Sums Region.

(** What a partition costs on a member: per move, if it leaves its owner; per mismatch. *)
Definition cost (i : instance) (per_move per_mismatch : Z) (p : partition) (c : member) : Z :=
  (if has_owner i p && negb (is_owner i p c) then per_move else 0)
  + (if is_far i p c then per_mismatch else 0).

Definition paid (i : instance) (r : region) (k : pool) (price : member -> Z) (stop : Z) : Z :=
  stop * (units i r k - sum (least r k) (eligible r k))
  + sum (fun c => price c * least r k c
                  + (most r k c - least r k c) * Z.max 0 (price c - stop)) (eligible r k).

Definition price_bound (i : instance) (r : region) (cheapest : partition -> Z)
    (price : pool -> member -> Z) (stop : pool -> Z) : Z :=
  sum cheapest (assignable_partitions i)
  - sum (fun k => paid i r k (price k) (stop k)) (pools r).

Lemma owned_assigned i a : well_formed i -> valid i a ->
  owned i = sum (fun pair => if has_owner i (fst pair) then 1 else 0) a.
Proof.
  move=> wf v; rewrite (sum_assigned i a (fun p => if has_owner i p then 1 else 0)) // sum_filter.
  apply: sum_eq => p _; rewrite /has_owner.
  case own: (owner i p) => [c|]; last by case: is_assignable.
  rewrite (proj2 (is_assignable_spec i p)) //.
  exact: subscribed_assignable (owners_subscribe i wf p c own).
Qed.

Lemma total_cost i a x y : well_formed i -> valid i a ->
  sum (fun pair => cost i x y (fst pair) (snd pair)) a = x * moves i a + y * mismatches i a.
Proof.
  move=> wf v; rewrite /moves (owned_assigned i a) // /kept -sum_sub -!sum_scale -sum_add.
  apply: sum_eq => pair _; rewrite /cost /has_owner /is_owner; case: owner => [d|]; by_terms.
Qed.

Lemma counts_nonneg i a : well_formed i -> valid i a ->
  0 <= moves i a <= owned i /\ 0 <= mismatches i a.
Proof.
  move=> wf v; have : 0 <= kept i a by apply: sum_nonneg => pair _; case: is_owner.
  have : 0 <= mismatches i a by apply: sum_nonneg => pair _; case: is_far.
  have := total_cost i a 1 0 wf v; set s := sum _ a; suff : 0 <= s by rewrite /moves; lia.
  by apply: sum_nonneg => pair _; rewrite /cost; case: andb; case: is_far.
Qed.

(** For loads within bounds that come to all units, no more than [paid] is paid. *)
Lemma paid_is_most i r a k price stop : well_formed i -> region_well_formed r -> valid i a ->
  within i r a -> In k (pools r) ->
  sum (fun c => price c * load_in i r a k c) (eligible r k) <= paid i r k price stop.
Proof.
  move=> wf rwf v w known; rewrite /paid -(total_load_in i r a k) // -sum_sub -sum_scale -sum_add.
  apply: sum_le => c inside; have := loads_of_pools i r a w k c known inside.
  move: (load_in i r a k c) (least r k c) (most r k c) (price c) => n low high u bounds.
  suff : (n - low) * (u - stop) <= (high - low) * Z.max 0 (u - stop) by lia.
  by case: (Z.max_spec 0 (u - stop)) => -[? ->]; nia.
Qed.

(** What all pairs pay in prices is, pool by pool, price times load. *)
Lemma all_paid i r a (price : pool -> member -> Z) : region_well_formed r -> within i r a ->
  sum (fun pair => price (pool_of_partition i r (fst pair)) (snd pair)) a
  = sum (fun k => sum (fun c => price k c * load_in i r a k c) (eligible r k)) (pools r).
Proof.
  move=> rwf w; rewrite (sum_by_pool i r _ _ _ (pools_once r rwf) (pools_known i r a w)).
  apply: sum_eq => k known; rewrite (sum_by_holder _ _ _ (eligible_once r rwf k known)) => [p c|].
    by move=> inside /=; case: Z.eqb_spec => [<-|] // _; exact: (held_by_eligible i r a w p c).
  apply: sum_eq => c _; rewrite /load_in -sum_scale; apply: sum_eq => -[p d] _ /=.
  by case: Z.eqb_spec => [->|_]; by_terms.
Qed.

Theorem cost_bound i r cheapest price stop x y a :
  well_formed i -> region_well_formed r ->
  (forall p c, In p (partitions i) -> may_hold i r p c ->
     cheapest p <= cost i x y p c + price (pool_of_partition i r p) c) ->
  valid i a -> within i r a ->
  price_bound i r cheapest price stop <= x * moves i a + y * mismatches i a.
Proof.
  move=> wf rwf least_cost v w; rewrite -total_cost // /price_bound -(sum_assigned i a) //.
  have := sum_le _ _ _ (fun k => paid_is_most i r a k (price k) (stop k) wf rwf v w).
  rewrite -all_paid // => most; apply/Z.le_sub_le_add_r.
  apply: Z.le_trans (Zplus_le_compat_l _ _ _ most); rewrite -sum_add.
  apply: sum_le => -[p c] inside; apply: least_cost (holder_may_hold i r a v w p c inside).
  by case/(assigned_to_subscribers i a v): inside.
Qed.

Lemma mismatches_at_most i a : well_formed i -> valid i a ->
  mismatches i a <= sum (fun _ => 1) (partitions i).
Proof.
  move=> wf v; apply: (Z.le_trans _ (sum (fun _ => 1) a)); first by apply: sum_le; by_terms.
  by rewrite (sum_assigned i a (fun _ => 1)) // sum_filter; apply: sum_le; by_terms.
Qed.
