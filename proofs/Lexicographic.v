(** The load vector of one assignment is no larger than that of another if and only if the
    sum over members of base ^ load is no larger, for a base larger than the number of
    members and loads in a unit that makes every fraction an integer. So a comparison of
    vectors is a comparison of sums, and dec-min is the least value of one convex cost.

    This is the first sentence of the proof in docs/method.md, "Capacities". *)

From Coq Require Import QArith Lqa Sorted.
From Assignor Require Import Sums Keys.
Open Scope Z_scope.

Definition descending : list Q -> Prop := StronglySorted (fun x y => (y <= x)%Q).

Lemma insert_permutation x l : Permutation (x :: l) (insert x l).
Proof. elim: l => [|y l IH] //=; case: Qle_bool => //; rewrite perm_swap; exact: perm_skip. Qed.

Lemma insert_descending x l : descending l -> descending (insert x l).
Proof.
  elim: l => [|y l IH] sorted /=; first by repeat constructor.
  have [sorted' below] := StronglySorted_inv sorted; case E: (Qle_bool y x).
    move/Qle_bool_iff: E => le; do 2 constructor=> //.
    by apply: Forall_impl below => z zy; exact: Qle_trans zy le.
  constructor; first exact: IH.
  apply: (Permutation_Forall (insert_permutation x l)); constructor=> //.
  by apply/Qlt_le_weak/Qnot_le_lt => /Qle_bool_iff; rewrite E.
Qed.

Lemma largest_first_permutation l : Permutation l (largest_first l).
Proof. by elim: l => [|x l IH] //=; rewrite -insert_permutation; exact: perm_skip. Qed.

Lemma largest_first_descending l : descending (largest_first l).
Proof. by elim: l => [|x l IH] /=; [constructor|exact: insert_descending]. Qed.

Section Vectors.

Variables base scale : Z.

Definition scaled (x : Q) : Z := Qnum x * (scale / Zpos (Qden x)).
Definition is_scaled (x : Q) : Prop := 0 <= Qnum x /\ is_scale scale (Zpos (Qden x)).

Lemma scaled_Qlt x y : is_scaled x -> is_scaled y -> (x < y)%Q <-> scaled x < scaled y.
Proof. by move=> [_ sx] [_ sy]; exact: scaled_lt. Qed.

Definition powers : list Q -> Z := sum (fun x => base ^ scaled x).

(** A larger first element outweighs everything. *)
Lemma powers_lt x v y w : descending (x :: v) -> Forall is_scaled (x :: v) -> is_scaled y ->
  Z.of_nat (length (x :: v)) < base -> (x < y)%Q -> powers (x :: v) < powers (y :: w).
Proof.
  move=> sorted /Forall_forall good goody short.
  have [_ /Forall_forall below] := StronglySorted_inv sorted.
  have goodx := good x (or_introl eq_refl).
  have posx : 0 <= scaled x by move: goodx => [nonneg [_ [positive _]]]; rewrite /scaled; nia.
  move=> /(scaled_Qlt _ _ goodx goody) less.
  have all : powers (x :: v) <= sum (fun _ => base ^ scaled x) (x :: v).
    apply: sum_le => z inside; apply: Z.pow_le_mono_r; first by lia.
    apply/Z.nlt_ge => /(scaled_Qlt _ _ goodx (good z inside))/Qlt_not_le; apply.
    by case: inside => [->|/below]; first exact: Qle_refl.
  have := Z.pow_le_mono_r base (Z.succ (scaled x)) (scaled y) ltac:(lia) ltac:(lia).
  have : 0 <= powers w by apply: sum_nonneg => z _; apply: Z.pow_nonneg; lia.
  have := Z.pow_pos_nonneg base (scaled x) ltac:(lia) posx.
  rewrite sum_const in all; rewrite Z.pow_succ_r // => some nonneg more.
  change (powers (y :: w)) with (base ^ scaled y + powers w); nia.
Qed.

Lemma lexicographically_le_powers v w : descending v -> descending w ->
  Forall is_scaled v -> Forall is_scaled w -> length v = length w ->
  Z.of_nat (length v) < base ->
  lexicographically_le v w <-> powers v <= powers w.
Proof.
  elim: v w => [|x v IH] [|y w] // sv sw gv gw same short.
  have [sv' _] := StronglySorted_inv sv; have [sw' _] := StronglySorted_inv sw.
  have [gx gv'] := proj1 (Forall_cons_iff _ _ _) gv.
  have [gy gw'] := proj1 (Forall_cons_iff _ _ _) gw.
  case: (Q_dec x y) => [[less|more]|equal].
  - by have := powers_lt x v y w sv gv gy short less; split; [lia|left].
  - rewrite same in short; have := powers_lt y w x v sw gw gx short more.
    by split; [case=> [|[]]; lra|lia].
  - have {}IH := IH w sv' sw' gv' gw' ltac:(by case: same) ltac:(cbn [length] in short; lia).
    have eqs : scaled x = scaled y := proj1 (scaled_eq _ _ _ _ _ (proj2 gx) (proj2 gy)) equal.
    rewrite /powers /= eqs -/(powers v) -/(powers w).
    split=> [[|[_ /IH]]|le]; [lra|lia|right; split=> //; apply/IH; lia].
Qed.

End Vectors.

(** What an assignment costs: a load of n costs its member [power base scale w n]. *)
Definition power_sum base scale (i : instance) (a : assignment) : Z :=
  sum (fun c => power base scale (capacity i c) (load a c)) (members i).

Definition scales (scale : Z) (i : instance) : Prop :=
  forall c, In c (members i) -> is_scale scale (capacity i c).

Theorem load_vector_by_powers base scale i a b : scales scale i ->
  Z.of_nat (length (members i)) < base ->
  lexicographically_le (load_vector i a) (load_vector i b) <->
  power_sum base scale i a <= power_sum base scale i b.
Proof.
  move=> good short.
  have same c : In c (members i) -> Zpos (Z.to_pos (capacity i c)) = capacity i c.
    by move=> inside; have [positive _] := good c inside; rewrite Z2Pos.id.
  have all x : Forall (is_scaled scale) (load_vector i x).
    apply: (Permutation_Forall (largest_first_permutation _)).
    apply/Forall_forall => y /in_map_iff [c [<- inside]]; split; first exact: load_nonneg.
    by rewrite /= same //; exact: good.
  have costs x : power_sum base scale i x = powers base scale (load_vector i x).
    rewrite /powers -(sum_permutation _ _ _ (largest_first_permutation _)) sum_map.
    by apply: sum_eq => c inside; rewrite /power /scaled /= same.
  have size x : length (load_vector i x) = length (members i).
    by rewrite -(Permutation_length (largest_first_permutation _)) map_length.
  rewrite !costs; apply: lexicographically_le_powers; rewrite ?size //;
    exact: largest_first_descending.
Qed.

(** There is such a scale, also for the numbers of a list, if these are positive. *)
Lemma scale_with i l : well_formed i -> (forall w, In w l -> 0 < w) ->
  exists scale, scales scale i /\ forall w, In w l -> is_scale scale w.
Proof.
  move=> wf more; set m := map (capacity i) (members i) ++ l.
  have positive w : In w m -> 0 < w.
    move=> /in_app_iff [/in_map_iff [c [<- _]]|/more] //; exact: capacity_is_positive.
  have [scale [_ fits]] : exists scale, 0 < scale /\ forall w, In w m -> is_scale scale w.
    elim: (m) positive => [|w k IH] positive; first by exists 1.
    have [scale [pos fits]] := IH (fun v inside => positive v (or_intror inside)).
    have posw := positive w (or_introl eq_refl).
    exists (w * scale); split=> [|v [<-|/fits [posv [_ same]]]]; first by nia.
      by apply: is_scale_of => //; [nia|rewrite Z.mul_comm; exact: Z_mod_mult].
    apply: is_scale_of => //; first by nia.
    by rewrite -same Z.mul_comm -Z.mul_assoc Z.mul_comm; exact: Z_mod_mult.
  by exists scale; split=> [c|w] inside; apply/fits/in_app_iff; [left; exact: in_map|right].
Qed.
