(** Even shares: where all members of a list may hold all partitions, and no others hold any,
    a dec-min assignment gives each of them at least its keys below one key and at most those
    not above it, if so many come to enough and to room for all. So a pool of per-topic balance
    or of equal subscriptions has the bounds of such a key.

    This justifies [even_limits] of verify/policy/feasible_region.py, whatever key it finds. *)

From Assignor Require Import Sums Keys Balance Region Transfers.

Lemma holds_some a c : 0 < load a c -> exists p, In (p, c) a.
Proof.
  elim: a => [|[p d] a IH] //; rewrite /load /= -/(load a c).
  by case: Pos.eqb_spec => [->|_ /IH [q inside]]; [exists p; left|exists q; right].
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
  move=> [enough room] c inside; split; apply/Z.nlt_ge => apart.
    have least d : In d ms -> load b d <= low d.
      move=> _; apply/keys_below_counts => //; apply/not_true_iff_false => later.
      have /(keys_below_counts _ _ k posw) : load b c + 1 <= low c by lia.
      suff -> : key_le k (load b c + 1, capacity j c) = true by [].
      by apply: key_le_trans later (ordered d c inside) => //; exact: cap.
    by have := sum_tight _ _ ms least enough c inside; lia.
  have most d : In d ms -> high d <= load b d.
    move=> there; apply/Z.nlt_ge => less; apply: (Zlt_not_le _ _ apart).
    apply/keys_upto_counts => //; apply: key_le_trans (ordered c d there) _ => //; try exact: cap.
    by apply/keys_upto_counts => //; rewrite -/(high d); lia.
  by have := sum_tight _ _ ms most room c inside; lia.
Qed.

End Even.

Lemma of_topic_well_formed i t : well_formed i -> well_formed (of_topic i t).
Proof. move=> [ms ps once sub own lags cap]; constructor=> //=; exact: NoDup_filter. Qed.
