(** Every assignment that a balance allows is in the feasible region that the judge uses:
    for dec-min with a certificate, a pool per place (level, or rank of threshold); for
    per-topic balance, a pool per topic; for equal subscriptions, one pool. In the last
    two, all members of a pool may hold all of its partitions, and loads are even: between
    the keys below one key and those not above it.

    This justifies [level_pools] of verify/certificate.py, and [region_of] and
    [even_limits] of verify/policy/feasible_region.py, whatever key they find. *)

From Assignor Require Import Sums Keys Balance Region Transfers.

(** The pools of places: each topic is in the pool of the lowest place of its subscribers,
    and those of them that have this place are able to hold its partitions. *)
Record pools_of_places (i : instance) (place : member -> Z) (lowest : topic -> Z)
    (ks : list pool) (able : pool -> list member) : Prop := PoolsOfPlaces {
  lowest_is_least : forall p c, In p (partitions i) -> In c (subscribes i p) ->
    lowest (topic_of i p) <= place c;
  lowest_is_taken : forall p, In p (partitions i) -> assignable i p ->
    exists d, In d (subscribes i p) /\ place d = lowest (topic_of i p);
  able_at_place : forall k c, In c (able k) -> In c (members i) /\ place c = k;
  lowest_are_able : forall p c, In p (partitions i) -> In c (subscribes i p) ->
    place c = lowest (topic_of i p) ->
    In (lowest (topic_of i p)) ks /\ In c (able (lowest (topic_of i p)))
}.

Theorem thresholds_give_region i threshold place lowest ks able a : well_formed i ->
  valid i a -> within_thresholds i threshold a -> pools_of_places i place lowest ks able ->
  (forall c d, In c (members i) -> In d (members i) ->
     key_le (threshold c) (threshold d) = true -> place c <= place d) ->
  forall b, dec_min i b ->
  within i (Region ks lowest able
    (fun _ c => keys_below (capacity i c) (threshold c))
    (fun _ c => keys_upto (capacity i c) (threshold c))) b.
Proof.
  move=> wf va here [least taken at_place able_there] ranked b.
  move=> /(face_of_thresholds i threshold a wf va here b) [vb [_ loads on_least]].
  have placed p c : In (p, c) b ->
      In p (partitions i) /\ In c (subscribes i p) /\ place c = lowest (topic_of i p).
    move=> inside; have [known sub] := assigned_to_subscribers i b vb p c inside.
    have [e [sub_e same]] := taken p known (subscribed_assignable i p c sub).
    have := ranked c e (holders_are_members i b wf vb p c inside)
      (subscribers_are_members i wf _ e sub_e) (on_least p c e inside sub_e).
    by have := least p c known sub; split=> //; split=> //; lia.
  split=> /= [p c|p c|k c _ inside].
  1,2: by move=> /placed [known [sub same]]; case: (able_there p c known sub same).
  have [known same] := at_place k c inside; rewrite (_ : load_in _ _ b k c = load b c).
    apply: sum_eq => -[p e] held /=; case: Pos.eqb_spec => //= equal; subst e.
    by rewrite /pool_of_partition /= -(proj2 (proj2 (placed p c held))) same Z.eqb_refl.
  exact: loads.
Qed.

(** If nothing is above its limit while another one is below, then a sum that is no less than
    that of the limits leaves none below, and one that is no more leaves none above. *)
Lemma limits_reached (f g : member -> Z) ms :
  (forall d e, In d ms -> In e ms -> f e < g e -> f d <= g d) ->
  (sum g ms <= sum f ms -> forall c, In c ms -> g c <= f c) /\
  (sum f ms <= sum g ms -> forall c, In c ms -> f c <= g c).
Proof.
  move=> level; split=> total c inside; apply/Z.nlt_ge => apart.
    have tight := sum_tight f g ms (fun d there => level d c there inside apart) total.
    by have := tight c inside; lia.
  have tight := sum_tight g f ms _ total c inside; suff : g c = f c by lia.
  by apply: tight => e there; apply/Z.nlt_ge => /(level c e inside there); lia.
Qed.

Lemma holds_some a c : 0 < load a c -> exists p, In (p, c) a.
Proof.
  elim: a => [|[p d] a IH] //; rewrite /load /= -/(load a c).
  case: Pos.eqb_spec => [->|_] more; first by exists p; left.
  by have [q inside] := IH more; exists q; right.
Qed.

Section Even.

Variables (j : instance) (b : assignment) (ms : list member) (k : key).
Hypotheses (wf : well_formed j) (least_vector : dec_min j b).
Hypothesis alike : forall p c, In (p, c) b -> forall d, In d (subscribes j p) <-> In d ms.
Hypotheses (posn : 0 < fst k) (posw : 0 < snd k).

Let low c := keys_below (capacity j c) k.
Let high c := keys_upto (capacity j c) k.

Lemma even_share : sum low ms <= sum (load b) ms <= sum high ms ->
  forall c, In c ms -> low c <= load b c <= high c.
Proof.
  have cap d := capacity_is_positive j wf d.
  have ordered d e : In e ms ->
      key_le (load b d, capacity j d) (load b e + 1, capacity j e) = true.
    move=> there; case: (Z.lt_ge_cases 0 (load b d)) => [/holds_some [p held]|none]; last first.
      by apply/key_le_true; left; have := load_nonneg b e; have := cap d; have := cap e => /=; nia.
    case: (Pos.eq_dec d e) => [->|]; first by apply/key_le_true; left; have := cap e => /=; nia.
    by apply: (no_transfer_improves j b p) => //; apply/(alike p d held).
  have shared limit (under : key -> Prop) :
      (forall d n, n <= limit d <-> under (n, capacity j d)) ->
      (forall l m, 0 < snd l -> 0 < snd m -> key_le l m = true -> under m -> under l) ->
      (sum limit ms <= sum (load b) ms -> forall c, In c ms -> limit c <= load b c) /\
      (sum (load b) ms <= sum limit ms -> forall c, In c ms -> load b c <= limit c).
    move=> counts closed; apply: limits_reached => d e _ there less; apply/counts.
    by apply: (closed _ _ _ _ (ordered d e there)); [exact: cap|exact: cap|apply/counts; lia].
  move=> [enough room] c inside; split.
  - apply: (proj1 (shared low (fun l => key_le k l = false) _ _)) => // [d n|l m posl posm le].
      exact: keys_below_counts.
    by rewrite -!not_true_iff_false => no /key_le_trans /(_ le) later; apply/no/later.
  - apply: (proj2 (shared high (fun l => key_le l k = true) _ _)) => // [d n|l m posl posm].
      exact: keys_upto_counts.
    exact: key_le_trans.
Qed.

End Even.

(** A pool that is shared evenly: its bounds are those of a key that takes its units. *)
Definition shared_evenly (i : instance) (r : region) (threshold : pool -> key) (k : pool) : Prop :=
  0 < k /\ (0 < fst (threshold k) /\ 0 < snd (threshold k)) /\
  sum (least r k) (eligible r k) <= units i r k <= sum (most r k) (eligible r k).

Definition region_of_topics (i : instance) (ks : list pool) (threshold : pool -> key) : region :=
  Region ks Zpos (fun k => subscribers i (Z.to_pos k))
    (fun k c => keys_below (capacity i c) (threshold k))
    (fun k c => keys_upto (capacity i c) (threshold k)).

Definition region_of_all (i : instance) (ms : list member) (threshold : key) : region :=
  Region [1] (fun _ => 1) (fun _ => ms)
    (fun _ c => keys_below (capacity i c) threshold)
    (fun _ c => keys_upto (capacity i c) threshold).

Lemma of_topic_well_formed i t : well_formed i -> well_formed (of_topic i t).
Proof. move=> [ms ps once sub own lags cap]; constructor=> //=; exact: NoDup_filter. Qed.

(** Loads of a list that has all holders come to the number of pairs. *)
Lemma total_of_holders (ms : list member) b : NoDup ms ->
  (forall p c, In (p, c) b -> In c ms) -> sum (load b) ms = sum (fun _ => 1) b.
Proof. by move=> *; rewrite (sum_by_member ms b (fun _ => 1)) //; apply: sum_eq; by_terms. Qed.

Theorem per_topic_gives_region i ks threshold a : well_formed i ->
  (forall p, In p (partitions i) -> assignable i p -> In (Zpos (topic_of i p)) ks) ->
  (forall k, In k ks -> shared_evenly i (region_of_topics i ks threshold) threshold k) ->
  per_topic_balanced i a -> within i (region_of_topics i ks threshold) a.
Proof.
  move=> wf listed even [va least]; set r := region_of_topics i ks threshold.
  have holds := assigned_to_subscribers i a va.
  split=> [p c /holds [there sub]|p c /holds []|k c known able] //.
    by apply: listed => //; exact: subscribed_assignable sub.
  have [topical [[posn posw] fits]] := even k known; destruct k as [|t|t]; [by []| |by []].
  have same d : load_in i r a (Zpos t) d = load (pairs_of_topic i t a) d.
    rewrite /load /pairs_of_topic sum_filter; apply: sum_eq; rewrite /pool_of_partition; by_terms.
  have inside p d : In (p, d) (pairs_of_topic i t a) -> topic_of i p = t /\ In d (subscribers i t).
    by move=> /filter_In [/holds [_ sub] /Pos.eqb_eq /= <-].
  have total : sum (load (pairs_of_topic i t a)) (subscribers i t) = units i r (Zpos t).
    rewrite total_of_holders => [|p d /inside []|] //; first exact: subscribers_once.
    by rewrite /pairs_of_topic sum_filter /units -(sum_assigned i a).
  rewrite same; apply: (even_share (of_topic i t) _ (subscribers i t)) => //; last by rewrite total.
  - exact: of_topic_well_formed.
  - by move=> p d /inside [at_topic _] e; rewrite /subscribes /= at_topic.

Qed.

Theorem equal_subscriptions_give_region i ms threshold a : well_formed i -> NoDup ms ->
  (forall p, In p (partitions i) -> assignable i p ->
     forall d, In d (subscribes i p) <-> In d ms) ->
  shared_evenly i (region_of_all i ms threshold) (fun _ => threshold) 1 ->
  dec_min i a -> within i (region_of_all i ms threshold) a.
Proof.
  move=> wf once alike [_ [[posn posw] fits]] dm; set r := region_of_all i ms threshold.
  have [va _] := dm.
  have all p c : In (p, c) a -> (forall d, In d (subscribes i p) <-> In d ms) /\ In c ms.
    move=> /(assigned_to_subscribers i a va) [known sub].
    by have same := alike p known (subscribed_assignable i p c sub); split=> //; apply/same.
  split=> [p c _|p c /all []|k c [<-|] // able] //; first by left.
  rewrite (_ : load_in i r a 1 c = load a c); first by apply: sum_eq => pair _; rewrite andb_true_r.
  have total : sum (load a) ms = units i r 1.
    by rewrite total_of_holders // => [p d /all []|] //; rewrite /units -(sum_assigned i a).
  by apply: (even_share i a ms) => // [p d /all []|] //; rewrite total.
Qed.
