(** Keys, the order in which dec-min counts partitions: the n-th partition of a member of
    capacity w has the key (n, w). Keys are ordered by n / w, and for equal fractions by
    capacity, largest first. [keys_below] and [keys_upto] count a member's keys below a key
    and not above it, and a power of a large base grows from key to key.

    This justifies [ranks] and [count_keys] of verify/keys.py. *)

From Coq Require Import ZArith Bool Lia ssreflect.
Open Scope Z_scope.

Definition key : Type := Z * Z.

Definition key_le (k l : key) : bool :=
  (fst k * snd l <? fst l * snd k) ||
  ((fst k * snd l =? fst l * snd k) && (snd l <=? snd k)).

Definition keys_below (w : Z) (k : key) : Z :=
  if snd k <? w then fst k * w / snd k else (fst k * w - 1) / snd k.

Definition keys_upto (w : Z) (k : key) : Z :=
  if snd k <=? w then fst k * w / snd k else (fst k * w - 1) / snd k.

Lemma key_le_true k l : key_le k l = true <->
  fst k * snd l < fst l * snd k \/ fst k * snd l = fst l * snd k /\ snd l <= snd k.
Proof. rewrite /key_le orb_true_iff andb_true_iff Z.ltb_lt Z.eqb_eq Z.leb_le; lia. Qed.

Lemma key_le_false k l : key_le k l = false <->
  fst l * snd k < fst k * snd l \/ fst l * snd k = fst k * snd l /\ snd k < snd l.
Proof. rewrite -not_true_iff_false key_le_true; lia. Qed.

Lemma key_le_trans k l m : 0 < snd k -> 0 < snd l -> 0 < snd m ->
  key_le k l = true -> key_le l m = true -> key_le k m = true.
Proof. case: k l m => [n w] [m v] [o u]; rewrite !key_le_true /=; nia. Qed.

Lemma le_quotient n x w : 0 < w -> n <= x / w <-> n * w <= x.
Proof.
  move=> positive; split=> H; last by apply: Z.div_le_lower_bound; lia.
  have := Z.mul_div_le x w positive; nia.
Qed.

Lemma keys_upto_counts n w k : 0 < snd k -> n <= keys_upto w k <-> key_le (n, w) k = true.
Proof.
  rewrite key_le_true /keys_upto => ?; case: Z.leb_spec => /= ?; rewrite le_quotient //; lia.
Qed.

Lemma keys_below_counts n w k : 0 < snd k -> n <= keys_below w k <-> key_le k (n, w) = false.
Proof.
  rewrite key_le_false /keys_below => ?; case: Z.ltb_spec => /= ?; rewrite le_quotient //; lia.
Qed.

(** With a common multiple of all capacities as scale, fractions are integers. *)
Definition is_scale (scale w : Z) : Prop := 0 < w /\ 0 < scale / w /\ w * (scale / w) = scale.

Lemma is_scale_of scale w : 0 < w -> 0 < scale -> scale mod w = 0 -> is_scale scale w.
Proof. by move=> posw pos; have := Z.div_mod scale w; rewrite /is_scale; nia. Qed.

Lemma scaled_lt scale n w m v : is_scale scale w -> is_scale scale v ->
  n * v < m * w <-> n * (scale / w) < m * (scale / v).
Proof.
  rewrite /is_scale; move: (scale / w) (scale / v) => s t [posw [poss eqs]] [posv [post eqt]].
  rewrite (Z.mul_lt_mono_pos_r (s * t)); first by nia.
  rewrite (Z.mul_lt_mono_pos_r scale (n * s)); first by nia.
  have -> : n * v * (s * t) = n * s * scale by rewrite -eqt; ring.
  by have -> : m * w * (s * t) = m * t * scale by rewrite -eqs; ring.
Qed.

Lemma scaled_eq scale n w m v : is_scale scale w -> is_scale scale v ->
  n * v = m * w <-> n * (scale / w) = m * (scale / v).
Proof.
  move=> sw sv; have := scaled_lt scale n w m v sw sv; have := scaled_lt scale m v n w sv sw; lia.
Qed.

Section Powers.

Variables base scale : Z.
Hypothesis large : 2 <= base.

(** A load of n costs [power n w], and its last partition [growth (n, w)] of it. *)
Definition power (w n : Z) : Z := base ^ (n * (scale / w)).
Definition growth (k : key) : Z := power (snd k) (fst k) - power (snd k) (fst k - 1).

Lemma power_doubles x y : x < y -> 0 <= x -> 2 * base ^ x <= base ^ y.
Proof.
  move=> less nonneg.
  have := Z.pow_le_mono_r base (Z.succ x) y; rewrite Z.pow_succ_r //.
  have := Z.pow_nonneg base x; nia.
Qed.

Lemma growth_lt k l : is_scale scale (snd k) -> is_scale scale (snd l) -> 0 < fst k ->
  0 < fst l -> key_le l k = false -> growth k < growth l.
Proof.
  case: k l => [n w] [m v] /= sw sv posn posm /key_le_false /=.
  rewrite (scaled_lt scale) // (scaled_eq scale) // /growth /power /= !Z.mul_sub_distr_r.
  case: (sw) (sv) => [posw [+ eqs]] [posv [+ eqt]].
  move: (scale / w) (scale / v) eqs eqt => s t eqs eqt poss post.
  have positive := Z.pow_pos_nonneg base (n * s - 1 * s) ltac:(lia) ltac:(nia).
  case=> [less|[same larger]].
  - have := power_doubles (n * s) (m * t) less ltac:(nia).
    have := power_doubles (m * t - 1 * t) (m * t) ltac:(lia) ltac:(nia); lia.
  - have less : s < t by nia.
    have := power_doubles (m * t - 1 * t) (n * s - 1 * s) ltac:(lia) ltac:(nia).
    rewrite -same; lia.
Qed.

Lemma growth_order k l : is_scale scale (snd k) -> is_scale scale (snd l) -> 0 < fst k ->
  0 < fst l -> key_le k l = true <-> growth k <= growth l.
Proof.
  move=> sk sl posk posl; split=> le; last first.
    by case E: (key_le k l) => //; have := growth_lt l k sl sk posl posk E; lia.
  case F: (key_le l k); last by have := growth_lt k l sk sl posk posl F; lia.
  move: le F; rewrite !key_le_true /growth => le back; have same : snd k = snd l by lia.
  have -> : fst k = fst l by case: sk => positive _; nia.
  rewrite same; lia.
Qed.

End Powers.
