(** The executable check of a certificate of balance: [check_balance] accepts only what is
    dec-min balanced, and then the pools that the certificate describes ([level_region]) are
    a region in which every dec-min assignment lies. A level is a threshold: the next key.

    This is [balance_fails] and [level_pools] of verify/certificate.py. *)

From Coq Require Import ZArith List Lia Bool ssreflect.
From Assignor Require Import Definitions Sums Keys Balance Region Tables Checker.
Import ListNotations.
Open Scope Z_scope.

(** Keys in their order as numbers, given a common multiple and the largest of their
    capacities. The reader computes the multiple; here it is tested. *)
Definition place (scale largest : Z) (k : key) : Z :=
  fst k * (scale / snd k) * (largest + 1) - snd k.

Definition is_key (scale largest : Z) (k : key) : bool :=
  (0 <? fst k) && (0 <? snd k) && (snd k <=? largest) && (0 <? scale) && (scale mod snd k =? 0).

Lemma is_key_spec scale largest k : is_key scale largest k = true ->
  0 < fst k /\ 0 < snd k <= largest /\ is_scale scale (snd k).
Proof.
  rewrite /is_key !andb_true_iff !Z.ltb_lt Z.leb_le Z.eqb_eq => -[[[[posn posw] le] pos] rest].
  have exact := Z.div_mod scale (snd k) ltac:(lia); split=> //; split=> //.
  by split=> //; split; nia.
Qed.

Lemma place_le scale largest k l : is_key scale largest k = true -> is_key scale largest l = true ->
  key_le k l = true <-> place scale largest k <= place scale largest l.
Proof.
  move=> /is_key_spec [_ [le_k sk]] /is_key_spec [_ [le_l sl]].
  rewrite key_le_true (scaled_lt scale) // (scaled_eq scale) // /place.
  move: (fst k * _) (fst l * _) => n m; split; first by case=> [less|[-> le]]; nia.
  by move=> le; case: (Z.lt_trichotomy n m) => [?|[?|more]]; [left|right; nia|nia].
Qed.

Lemma place_positive scale largest k : is_key scale largest k = true ->
  0 < place scale largest k.
Proof. by case/is_key_spec => pos [le [_ [more _]]]; rewrite /place; nia. Qed.
