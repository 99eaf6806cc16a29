(** The executable check of a certificate of balance: [check_balance] accepts only what is
    dec-min balanced. A level is a threshold: the next key of the member.

    This is [balance_fails] of verify/certificate.py. *)

From Assignor Require Import Sums Keys Balance Region Tables Checker.

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
  by split=> //; split=> //; exact: is_scale_of.
Qed.

Lemma place_le scale largest k l : is_key scale largest k = true -> is_key scale largest l = true ->
  key_le k l = true <-> place scale largest k <= place scale largest l.
Proof.
  move=> /is_key_spec [_ [le_k sk]] /is_key_spec [_ [le_l sl]].
  rewrite key_le_true (scaled_lt scale) // (scaled_eq scale) // /place.
  move: (fst k * _) (fst l * _) => n m; split; first by case=> [less|[-> le]]; nia.
  by move=> le; case: (Z.lt_trichotomy n m) => [?|[?|more]]; [left|right; nia|nia].
Qed.

Lemma place_positive scale largest k : is_key scale largest k = true -> 0 < place scale largest k.
Proof. by case/is_key_spec => pos [le [_ [more _]]]; rewrite /place; nia. Qed.

Section Balance.

Variables (d : document) (threshold : member -> key) (scale largest : Z).
Let i := instance_of d.

Definition place_table : Map.t Z :=
  tabulate (fun c => place scale largest (threshold c)) (member_list d).

Definition check_balance (places lowest loads : Map.t Z) (a : assignment) : bool :=
  forallb (fun c => is_key scale largest (threshold c) &&
                    (keys_below (capacity i c) (threshold c) <=? get loads c) &&
                    (get loads c <=? keys_upto (capacity i c) (threshold c))) (members i) &&
  forallb (fun pair => get places (snd pair) =? get lowest (topic_of i (fst pair))) a.

Hypothesis known : check_document d = true.
Let places := place_table.
Let lowest := lowest_table d places.

Lemma subscriber_is_member p c : In c (subscribes i p) -> In c (members i).
Proof. exact: subscribers_are_members (check_document_sound d known) _ c. Qed.

Theorem check_balance_sound a : valid i a ->
  check_balance places lowest (load_table a) a = true ->
  within_thresholds i threshold a /\ dec_min i a.
Proof.
  move=> v; rewrite /check_balance andb_true_iff !forallb_forall => -[loads placed].
  have loads' c : In c (members i) -> is_key scale largest (threshold c) = true /\
      keys_below (capacity i c) (threshold c) <= load a c <= keys_upto (capacity i c) (threshold c).
    by move=> /loads; rewrite !andb_true_iff !Z.leb_le load_table_spec; intuition.
  suff w : within_thresholds i threshold a.
    by split=> //; apply: thresholds_are_dec_min w => //; exact: check_document_sound.
  split=> [c /loads' [/is_key_spec]|c /loads' []|p c e inside sub] //; first by intuition.
  have [_ /subscriber_is_member in_c] := assigned_to_subscribers i a v p c inside.
  have in_e := subscriber_is_member p e sub.
  apply/(place_le scale largest); [exact: proj1 (loads' c in_c)|exact: proj1 (loads' e in_e)|].
  rewrite -!(get_tabulate (fun c => place scale largest (threshold c)) (members i)) //.
  have /Z.eqb_eq /= -> := placed (p, c) inside; exact: (proj1 (lowest_spec d _ p e known sub)).
Qed.

End Balance.
