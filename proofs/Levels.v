(** Bounds on moves and rack mismatches in the order of a policy's levels, of which each
    counts so much per move and so much per mismatch.

    [no_less_sound]: beside each number of moves, a bound on weighted moves and mismatches
    ([Prices.v]) leaves no fewer than so many mismatches. So a number that is tested for these
    is no more than a level's value, in any assignment that is as good in the levels before.
    Which number passes is found elsewhere ([least_values] of verify/policy/price_bounds.py). *)

From Assignor Require Import Sums.

(** What a level counts per move, and per mismatch. *)
Definition level := (Z * Z)%type.

(** The values of so many moves and mismatches. *)
Definition values (counts : Z * Z) (w : level) : Z := fst w * fst counts + snd w * snd counts.

(** The fewest mismatches that a bound of the form x * moves + y * mismatches leaves. *)
Definition fewest (x y bound moved : Z) : Z :=
  if y =? 0 then 0 else Z.max 0 (- (- (bound - x * moved) / y)).

(** So many moves are impossible, or have no smaller value, or are worse in a level before. *)
Definition no_less (x y bound partitions_in_all : Z) (before : list level) (counts : Z * Z)
    (w : level) (n moved : Z) : bool :=
  let far := fewest x y bound moved in
  (y * far <? bound - x * moved) || (partitions_in_all <? far) ||
  (n <=? values (moved, far) w) ||
  existsb (fun u => values counts u <? values (moved, far) u) before.

Lemma no_less_sound x y bound all before counts w n moved far :
  0 <= y -> (forall u, In u (w :: before) -> 0 <= snd u) -> 0 <= far <= all ->
  bound <= x * moved + y * far ->
  (forall u, In u before -> values counts u = values (moved, far) u) ->
  no_less x y bound all before counts w n moved = true -> n <= values (moved, far) w.
Proof.
  move=> pos counted range enough same; rewrite /no_less.
  have [few fits] : 0 <= fewest x y bound moved <= far /\
      bound - x * moved <= y * fewest x y bound moved.
    rewrite /fewest; case: Z.eqb_spec => [zero|some]; first by nia.
    have := Z.mul_div_le (- (bound - x * moved)) y.
    have := Z.mul_succ_div_gt (- (bound - x * moved)) y.
    set q := _ / _; nia.
  have least u : In u (w :: before) ->
      values (moved, fewest x y bound moved) u <= values (moved, far) u.
    by move=> /counted; rewrite /values /=; nia.
  have := least w (or_introl eq_refl); rewrite !orb_true_iff !Z.ltb_lt Z.leb_le.
  move=> at_w [[[|]|]|/existsb_exists [u [there /Z.ltb_lt]]]; try lia.
  by have := least u (or_intror there); rewrite -same //; lia.
Qed.
