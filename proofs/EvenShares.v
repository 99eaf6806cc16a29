(** Even shares: where all members of a list may hold all partitions, and no others hold any,
    a dec-min assignment gives each of them at least its keys below one key and at most those
    not above it, if so many come to enough and to room for all. So a pool of per-topic balance
    or of equal subscriptions has the bounds of such a key.

    This justifies [even_limits] of verify/policy/feasible_region.py, whatever key it finds. *)

From Assignor Require Import Sums Keys Balance Region Transfers.

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
Hypotheses (wf : well_formed j) (least_vector : dec_min j b) (once : NoDup ms).
Hypothesis alike : forall p c, In (p, c) b -> forall d, In d (subscribes j p) <-> In d ms.
Hypotheses (posn : 0 < fst k) (posw : 0 < snd k).

Let low c := keys_below (capacity j c) k.
Let high c := keys_upto (capacity j c) k.

Theorem even_share :
  sum low ms <= sum (fun _ => 1) (assignable_partitions j) <= sum high ms ->
  forall c, In c ms -> low c <= load b c <= high c.
Proof.
  have [vb _] := least_vector.
  have <- : sum (load b) ms = sum (fun _ => 1) (assignable_partitions j).
    rewrite -(sum_assigned j b (fun _ => 1)) // (sum_by_member ms b (fun _ => 1)) // => [p c held|].
      by apply/(alike p c held); case: (assigned_to_subscribers j b vb p c held).
    by apply: sum_eq => c _; rewrite Z.mul_1_r.
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

Lemma of_topic_well_formed i t : well_formed i -> well_formed (of_topic i t).
Proof. move=> [ms ps once sub own lags cap]; constructor=> //=; exact: NoDup_filter. Qed.
