(** Differences between members, computed in passes over a list: the spread of what those in
    play hold, which is the largest amount less the least, and Kafka's balance score, a sum over
    pairs that one pass over loads in ascending order finds. That they are in order is tested.

    This is [kip54_score] of verify/figures.py, and [scaled] and [_spread] of
    verify/policy/objectives.py. *)

From Assignor Require Import Sums Keys Tables.

(** The members of a set. *)
Definition those_in (i : instance) (found : Map.t unit) : list member :=
  select (fun c => is_in c found) (members i).

Lemma those_in_spec i found : well_formed i ->
  NoDup (those_in i found) /\ incl (those_in i found) (members i).
Proof. by split=> [|c /in_select []] //; apply: select_once; exact: members_once. Qed.

(** Members that subscribe to any of some topics; those in play. *)
Definition subscribing (i : instance) (ts : list topic) : list member :=
  those_in i (set_of id (flatten (subscribers i) ts)).

Definition players (i : instance) : list member :=
  subscribing i (unique (topic_of i) (partitions i)).

Lemma subscribing_spec i ts c : well_formed i ->
  In c (subscribing i ts) <-> exists t, In t ts /\ In c (subscribers i t).
Proof.
  move=> wf; rewrite in_select is_in_set_of map_id in_flatten; split=> [[]|[t [there sub]]] //.
  by split; [exact: subscribers_are_members sub|exists t].
Qed.

Lemma players_spec i c : well_formed i -> In c (players i) <-> in_play i c.
Proof.
  move=> wf; rewrite subscribing_spec //; split=> [[t [there sub]]|[p [there sub]]].
    by have [p [same]] := proj1 (in_map_iff _ _ _) (proj1 (proj2 (unique_spec _ _) t) there);
      exists p; rewrite /subscribes same.
  by exists (topic_of i p); split=> //; exact: in_unique.
Qed.

(** The largest amount less the least, in units of 1 / scale; 0 of none. *)
Definition spread (scale : Z) (amount unit : member -> Z) (ms : list member) : Z :=
  let part c := amount c * (scale / unit c) in
  let low := least_of part ms in largest_of (fun c => part c - low) ms.

Lemma spread_spec i scale entry amount unit : well_formed i ->
  (forall c, In c (players i) -> is_scale scale (unit c)) -> (forall c, entry c = amount c) ->
  forall n, 0 <= n ->
  spread scale entry unit (players i) <= n <-> spread_at_most i amount unit scale n.
Proof.
  move=> wf fits equal n nonneg; pose part c := entry c * (scale / unit c).
  pose low := least_of part (players i).
  rewrite -[spread _ _ _ _]/(largest_of (fun c => part c - low) (players i)).
  have pair c e : In c (players i) -> In e (players i) -> part c - part e <= n <->
      (amount c * unit e - amount e * unit c) * scale <= n * (unit c * unit e).
    move=> /fits [posc [_ eqc]] /fits [pose [_ eqe]].
    rewrite /part !equal; move: (scale / unit c) (scale / unit e) eqc eqe => s t eqc eqe.
    rewrite (_ : _ * scale = (amount c * s - amount e * t) * (unit c * unit e)).
      by rewrite Z.mul_sub_distr_r -{1}eqc -eqe; ring.
    by apply: Z.mul_le_mono_pos_r; nia.
  have [above some] := largest_spec (fun c => part c - low) (players i).
  split=> [small c e /players_spec in_c /players_spec in_e|all].
    apply/pair; [exact: in_c|exact: in_e|].
    by have := above c (in_c wf); have := least_le part _ e (in_e wf); rewrite -/low; lia.
  case: some => [->|[c [inside <-]]] //; have [|e [there same]] := least_attained part (players i).
    by move=> none; rewrite none in inside.
  by rewrite /low -same; apply/pair => //; apply: all; exact/players_spec.
Qed.

(** Kafka's score: in ascending order, each of a list has its excess over all before. *)
Fixpoint score_of {A} (f : A -> Z) (last n total score : Z) (l : list A) : option Z :=
  match l with
  | [] => Some score
  | x :: l => let v := f x in
              if last <=? v then score_of f v (n + 1) (total + v) (score + (n * v - total)) l
              else None
  end.

Definition excess {A} (f : A -> Z) (l : list A) : Z :=
  sum (fun x => sum (fun y => Z.max 0 (f x - f y)) l) l.

Lemma score_of_spec {A} (f : A -> Z) l : forall k last n, (forall y, In y k -> f y <= last) ->
  score_of f last (sum (fun _ => 1) k) (sum f k) (excess f k) l = Some n -> n = excess f (k ++ l).
Proof.
  elim: l => [|x l IH] k last n below /=; first by rewrite app_nil_r => -[].
  case: Z.leb_spec => // le; rewrite (app_assoc k [x] l) => run; apply: (IH (k ++ [x]) (f x)).
    by move=> y /in_app_iff [/below|[<-|]] //; lia.
  rewrite -run /excess !sum_app /= !Z.add_0_r; congr score_of.
  rewrite (sum_eq (fun y => sum _ (k ++ [x])) (fun y => sum (fun z => Z.max 0 (f y - f z)) k)).
    by move=> y /below; rewrite sum_app /=; lia.
  rewrite sum_app (sum_eq (fun y => Z.max 0 (f x - f y)) (fun y => f x * 1 - f y)) => [y /below|].
    by lia.
  by rewrite sum_sub sum_scale /=; lia.
Qed.
