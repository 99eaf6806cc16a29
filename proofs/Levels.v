(** Bounds on moves and rack mismatches in the order of a policy's levels, of which each
    counts so much per move and so much per mismatch: the first difference decides.

    [least_values_bound]: of all counts that a bound on weighted moves and mismatches leaves
    ([Prices.v]), the first in order is no more than that of any assignment ([least_values] of
    verify/policy/price_bounds.py). *)

From Assignor Require Import Sums Region Prices.

(** What a level counts per move, and per mismatch. *)
Definition level := (Z * Z)%type.

(** A value per level, in the order of a list of levels. *)
Fixpoint in_order (levels : list level) (f g : level -> Z) : bool :=
  match levels with
  | [] => true
  | w :: levels => (f w <? g w) || ((f w =? g w) && in_order levels f g)
  end.

Lemma in_order_spec w levels f g : in_order (w :: levels) f g = true <->
  f w <= g w /\ (f w = g w -> in_order levels f g = true).
Proof.
  rewrite /= orb_true_iff andb_true_iff Z.ltb_lt Z.eqb_eq.
  by have := Z.lt_trichotomy (f w) (g w); intuition lia.
Qed.

Lemma in_order_le levels f g : (forall w, In w levels -> f w <= g w) -> in_order levels f g = true.
Proof.
  elim: levels => [|w levels IH] // below; apply/in_order_spec.
  by split=> [|_]; [apply: below; left|apply: IH => u inside; apply: below; right].
Qed.

Lemma in_order_trans levels f g h : in_order levels f g = true -> in_order levels g h = true ->
  in_order levels f h = true.
Proof.
  elim: levels => [|w levels IH] // /in_order_spec [fg more] /in_order_spec [gh rest].
  by apply/in_order_spec; split=> [|same]; [lia|apply: IH; [apply: more|apply: rest]; lia].
Qed.

Lemma in_order_total levels f g : in_order levels f g = false -> in_order levels g f = true.
Proof.
  elim: levels => [|w levels IH] // /not_true_iff_false; rewrite !in_order_spec => no.
  by have := Z.lt_trichotomy (f w) (g w); case: in_order IH no => IH no; intuition lia.
Qed.

(** Where the levels before are equal, the next one is no less. *)
Lemma last_in_order levels w f g : in_order (levels ++ [w]) f g = true ->
  (forall u, In u levels -> f u = g u) -> f w <= g w.
Proof.
  elim: levels => [|u levels IH] /in_order_spec [le more] same //.
  by apply: IH => [|v inside]; [apply: more|]; apply: same; [left|right].
Qed.

(** The values of so many moves and mismatches. *)
Definition values (counts : Z * Z) (w : level) : Z := fst w * fst counts + snd w * snd counts.

Section LeastValues.

Variables (levels : list level) (per_move per_mismatch bound partitions_in_all : Z).

(** The fewest mismatches that the bound leaves beside so many moves. *)
Definition tried (moved : Z) : option (Z * Z) :=
  let missing := bound - per_move * moved in
  let far := if per_mismatch =? 0 then 0 else Z.max 0 (- (- missing / per_mismatch)) in
  if (missing <=? per_mismatch * far) && (far <=? partitions_in_all)
  then Some (moved, far) else None.

Definition better (one other : option (Z * Z)) : option (Z * Z) :=
  match one, other with
  | Some v, Some w => if in_order levels (values v) (values w) then one else other
  | Some _, None => one
  | None, _ => other
  end.

Definition least_values (moved : list Z) : option (Z * Z) :=
  fold_left (fun best n => better best (tried n)) moved None.

Definition no_later (best : option (Z * Z)) (f : level -> Z) : Prop :=
  exists counts, best = Some counts /\ in_order levels (values counts) f = true.

Lemma better_no_later one other f :
  no_later one f \/ no_later other f -> no_later (better one other) f.
Proof.
  case=> -[v [-> le]] /=; [case: other => [w|]|case: one => [w|]] => /=; try by exists v.
    case order: in_order; [by exists v|exists w; split=> //].
    exact: in_order_trans (in_order_total _ _ _ order) le.
  by case order: in_order; [exists w; split=> //; exact: in_order_trans order le|exists v].
Qed.

Hypothesis positive : 0 <= per_mismatch.
Hypothesis counted : forall w, In w levels -> 0 <= snd w.

Lemma tried_no_later m n : 0 <= n <= partitions_in_all ->
  bound <= per_move * m + per_mismatch * n -> no_later (tried m) (values (m, n)).
Proof.
  move=> range enough; rewrite /tried; set far := (if per_mismatch =? 0 then _ else _).
  have [few fits] : 0 <= far <= n /\ bound - per_move * m <= per_mismatch * far.
    rewrite /far; case: Z.eqb_spec => [zero|some]; first by nia.
    have := Z.mul_div_le (- (bound - per_move * m)) per_mismatch.
    have := Z.mul_succ_div_gt (- (bound - per_move * m)) per_mismatch.
    set q := _ / _; nia.
  exists (m, far); split; first by rewrite (proj2 (andb_true_iff _ _)) // !Z.leb_le; lia.
  apply: in_order_le => w /counted; rewrite /values /=; nia.
Qed.

End LeastValues.

Theorem least_values_bound i levels x y bound moved a :
  well_formed i -> valid i a -> 0 <= y -> (forall w, In w levels -> 0 <= snd w) ->
  bound <= x * moves i a + y * mismatches i a -> In (moves i a) moved ->
  exists counts,
    least_values levels x y bound (sum (fun _ => 1) (partitions i)) moved = Some counts /\
    in_order levels (values counts) (values (moves i a, mismatches i a)) = true.
Proof.
  move=> wf v py counted enough; set f := values _.
  apply: (fold_ind (fun seen best => In (moves i a) seen -> no_later levels best f)) => // l k best.
  rewrite in_app_iff => IH there; apply: better_no_later.
  case: there => [/IH|[->|[]]]; [by left|right; apply: tried_no_later => //; split].
    by apply: sum_nonneg => pair _; case: is_far.
  exact: mismatches_at_most.
Qed.
