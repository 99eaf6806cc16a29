(** The feasible region of a balance, and what sums over an assignment in it come to.

    A region has pools: disjoint sets of topics, the members that are eligible for their
    partitions, and bounds on how many of them each of these holds. Every bound of
    [docs/bounds.md] is a bound on all valid assignments within a region. Balances imply
    regions: dec-min through the places and load bounds of a certificate ([CheckCertificate.v]),
    per-topic with one pool per topic, others with all subscribers and any number
    ([CheckPolicy.v]). This file is the meaning of [verify/policy/feasible_region.py]. *)

From Assignor Require Import Sums.

(** A pool is a number: of a topic, of a level, or 0 for a single one. *)
Definition pool := Z.

Record region := Region {
  pools : list pool;
  pool_of : topic -> pool;
  eligible : pool -> list member;
  least : pool -> member -> Z;
  most : pool -> member -> Z
}.

Record region_well_formed (r : region) : Prop := RegionWellFormed {
  pools_once : NoDup (pools r);
  eligible_once : forall k, In k (pools r) -> NoDup (eligible r k)
}.

Definition pool_of_partition (i : instance) (r : region) (p : partition) : pool :=
  pool_of r (topic_of i p).

(** How many partitions of a pool a member holds. *)
Definition load_in (i : instance) (r : region) (a : assignment) (k : pool) (c : member) : Z :=
  sum (fun pair =>
         if (snd pair =? c)%positive && (pool_of_partition i r (fst pair) =? k)
         then 1 else 0) a.

Record within (i : instance) (r : region) (a : assignment) : Prop := Within {
  pools_known : forall p c, In (p, c) a -> In (pool_of_partition i r p) (pools r);
  held_by_eligible : forall p c, In (p, c) a -> In c (eligible r (pool_of_partition i r p));
  loads_of_pools : forall k c, In k (pools r) -> In c (eligible r k) ->
    least r k c <= load_in i r a k c <= most r k c
}.

(** The members of whom one holds the partition, in every assignment within the region. *)
Definition may_hold (i : instance) (r : region) (p : partition) (c : member) : Prop :=
  In c (eligible r (pool_of_partition i r p)) /\ In c (subscribes i p).

Definition is_assignable (i : instance) (p : partition) : bool :=
  match subscribes i p with [] => false | _ => true end.

Definition assignable_partitions (i : instance) : list partition :=
  filter (is_assignable i) (partitions i).

(** How many partitions a pool has. *)
Definition units (i : instance) (r : region) (k : pool) : Z :=
  sum (fun p => if pool_of_partition i r p =? k then 1 else 0) (assignable_partitions i).

Lemma holder_may_hold i r a : valid i a -> within i r a ->
  forall p c, In (p, c) a -> may_hold i r p c.
Proof.
  move=> v w p c inside; split; first exact: held_by_eligible inside.
  by have [] := assigned_to_subscribers i a v p c inside.
Qed.

Lemma is_assignable_spec i p : is_assignable i p = true <-> assignable i p.
Proof. rewrite /is_assignable /assignable; by case: (subscribes i p). Qed.

(** The assigned partitions are the assignable ones. *)
Lemma partitions_assigned i a : well_formed i -> valid i a ->
  Permutation (map fst a) (assignable_partitions i).
Proof.
  move=> wf v; apply: NoDup_Permutation; first exact: assigned_once v.
    exact: NoDup_filter (partitions_once i wf).
  by move=> p; rewrite filter_In is_assignable_spec; exact: assigned_spec.
Qed.

Lemma sum_assigned i a (f : partition -> Z) : well_formed i -> valid i a ->
  sum (fun pair => f (fst pair)) a = sum f (assignable_partitions i).
Proof. by move=> wf v; rewrite -sum_map; exact: sum_permutation (partitions_assigned i a wf v). Qed.

(** A sum over pairs is a sum over the pools of a list, if all of theirs are listed. *)
Lemma sum_by_pool i r (ks : list pool) (a : assignment) (f : partition * member -> Z) :
  NoDup ks -> (forall p c, In (p, c) a -> In (pool_of_partition i r p) ks) ->
  sum f a = sum (fun k => sum (fun pair =>
              if pool_of_partition i r (fst pair) =? k then f pair else 0) a) ks.
Proof.
  move=> once known.
  apply: (sum_by_name _ (fun pair => pool_of_partition i r (fst pair))) Z.eqb_eq once _.
  by move=> -[p c] /known.
Qed.

(** The loads of the eligible members of a pool come to its partitions. *)
Lemma total_load_in i r a k : well_formed i -> region_well_formed r -> valid i a ->
  within i r a -> In k (pools r) ->
  sum (load_in i r a k) (eligible r k) = units i r k.
Proof.
  move=> wf rwf v w known.
  rewrite /units -(sum_assigned i a) // (sum_by_holder (eligible r k)); first exact: eligible_once.
    by move=> p c inside /=; case: Z.eqb_spec => [<-|] // _; exact: held_by_eligible inside.
  by apply: sum_eq => c _; apply: sum_eq; by_terms.
Qed.
