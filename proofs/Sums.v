(** Two assignments that are valid for one instance hold the same partitions, so a sum over
    partitions does not depend on the assignment; and a sum over pairs of a value that
    depends on the member alone is a sum over members of load times value. Also here: what all
    other files import, sums over lists in general, and passes over lists. *)

From Coq Require Export ZArith List Bool Lia Permutation ssreflect.
From Assignor Require Export Definitions.
Export ListNotations.
Global Open Scope Z_scope.

(** What follows term by term: with each test of a term either way, it is arithmetic. *)
Ltac by_terms :=
  intros; repeat match goal with pair : (_ * _)%type |- _ => destruct pair end; simpl in *;
  repeat (match goal with
  | |- context [(?x =? ?y)%positive] => case: (Pos.eqb_spec x y) => ?; subst
  | |- context [?x =? ?y] => case: (Z.eqb_spec x y) => ?; subst
  | |- context [if ?test then _ else _] => case: test
  end; simpl in * ); try lia.

(** What holds at the start of a pass and is kept by each of its steps holds at its end. *)
Lemma fold_ind {A S} (P : list A -> S -> Prop) step start : P [] start ->
  (forall l x s, P l s -> P (l ++ [x]) (step s x)) -> forall l, P l (fold_left step l start).
Proof. by move=> first next; elim/rev_ind => [|x l IH] //; rewrite fold_left_app; exact: next. Qed.

Lemma sum_app {A} (f : A -> Z) l m : sum f (l ++ m) = sum f l + sum f m.
Proof. elim: l => [|x l IH] //=; lia. Qed.

Lemma sum_add {A} (f g : A -> Z) l : sum (fun x => f x + g x) l = sum f l + sum g l.
Proof. elim: l => [|x l IH] //=; lia. Qed.

Lemma sum_sub {A} (f g : A -> Z) l : sum (fun x => f x - g x) l = sum f l - sum g l.
Proof. elim: l => [|x l IH] //=; lia. Qed.

Lemma sum_scale {A} (f : A -> Z) k l : sum (fun x => k * f x) l = k * sum f l.
Proof. elim: l => [|x l IH] //=; lia. Qed.

(** Where sums of which one is nowhere below are equal, all of their terms are. *)
Lemma sum_compare {A} (f g : A -> Z) l : (forall x, In x l -> f x <= g x) ->
  sum f l <= sum g l /\ (sum g l <= sum f l -> forall x, In x l -> f x = g x).
Proof.
  elim: l => [|x l IH] /= below; first by split.
  have first := below x (or_introl eq_refl).
  have [le tight] := IH (fun y inside => below y (or_intror inside)).
  by split=> [|back y [<-|]]; [lia|lia|apply: tight; lia].
Qed.

Lemma sum_le {A} (f g : A -> Z) l : (forall x, In x l -> f x <= g x) -> sum f l <= sum g l.
Proof. by case/sum_compare. Qed.

Lemma sum_tight {A} (f g : A -> Z) l : (forall x, In x l -> f x <= g x) ->
  sum g l <= sum f l -> forall x, In x l -> f x = g x.
Proof. by case/sum_compare. Qed.

Lemma sum_eq {A} (f g : A -> Z) l : (forall x, In x l -> f x = g x) -> sum f l = sum g l.
Proof. by move=> same; apply: Z.le_antisymm; apply: sum_le => x /same ->; lia. Qed.

Lemma sum_zero {A} (l : list A) : sum (fun _ => 0) l = 0.
Proof. elim: l => [|x l IH] //=. Qed.

Lemma sum_nonneg {A} (f : A -> Z) l : (forall x, In x l -> 0 <= f x) -> 0 <= sum f l.
Proof. move=> H; rewrite -(sum_zero l); exact: sum_le. Qed.

Lemma sum_element {A} (f : A -> Z) l x : (forall y, In y l -> 0 <= f y) -> In x l ->
  f x <= sum f l.
Proof.
  elim: l => [|y l IH] //= nonneg there; have rest z inside := nonneg z (or_intror inside).
  have := sum_nonneg f l rest; have := nonneg y (or_introl eq_refl).
  by case: there => [<-|/(IH rest)]; lia.
Qed.

Lemma sum_map {A B} (h : A -> B) (f : B -> Z) l : sum f (map h l) = sum (fun x => f (h x)) l.
Proof. elim: l => [|x l IH] //=; lia. Qed.

Lemma sum_filter {A} (f : A -> Z) (keep : A -> bool) l :
  sum f (filter keep l) = sum (fun x => if keep x then f x else 0) l.
Proof. elim: l => [|x l IH] //=; case: (keep x) => /=; lia. Qed.

Lemma sum_const {A} k (l : list A) : sum (fun _ => k) l = Z.of_nat (length l) * k.
Proof. by elim: l => [|x l IH] //; cbn [sum length]; lia. Qed.

Lemma sum_of_ones {A} (l : list A) : sum (fun _ => 1) l = Z.of_nat (length l).
Proof. by rewrite sum_const Z.mul_1_r. Qed.

Lemma sum_permutation {A} (f : A -> Z) l m : Permutation l m -> sum f l = sum f m.
Proof. elim=> //= *; lia. Qed.

Lemma sum_swap {A B} (f : A -> B -> Z) l m :
  sum (fun x => sum (f x) m) l = sum (fun y => sum (fun x => f x y) l) m.
Proof. by elim: l => [|x l IH] /=; rewrite ?sum_zero // IH -sum_add. Qed.

(** Of a list whose names are without repetition, exactly one element has a given one. *)
Lemma sum_named {A B} (name : A -> B) (test : A -> bool) (u : A -> Z) x l :
  (forall y, test y = true <-> name x = name y) -> NoDup (map name l) -> In x l ->
  sum (fun y => if test y then u y else 0) l = u x.
Proof.
  move=> spec once inside; have [l1 [l2 same]] := in_split x l inside.
  rewrite {}same map_app /= in once *; have fresh := NoDup_remove_2 _ _ _ once.
  have none m : incl (map name m) (map name l1 ++ map name l2) ->
      sum (fun y => if test y then u y else 0) m = 0.
    move=> part; rewrite (sum_eq _ (fun _ => 0)) ?sum_zero // => y there.
    by case E: (test y) => //; case: fresh; rewrite (proj1 (spec y) E); apply/part/in_map.
  by rewrite sum_app /= (proj2 (spec x)) // !none; [exact: incl_appl|exact: incl_appr|lia].
Qed.

Lemma sum_one (u : positive -> Z) (c : positive) l :
  NoDup l -> In c l -> sum (fun d => if (c =? d)%positive then u d else 0) l = u c.
Proof. by rewrite -{1}(map_id l); apply: sum_named => d; exact: Pos.eqb_eq. Qed.

(** Of an assignment, exactly one pair is that of a given partition. *)
Lemma sum_of_holder (f : member -> Z) (a : assignment) p c : NoDup (map fst a) -> In (p, c) a ->
  sum (fun pair => if (fst pair =? p)%positive then f (snd pair) else 0) a = f c.
Proof.
  apply: (sum_named fst _ (fun pair => f (snd pair)) (p, c)) => pair.
  by rewrite Pos.eqb_eq.
Qed.

(** A sum is one over names of sums, if all that have a value have one of these names. *)
Lemma sum_by_name {A B} (same : B -> B -> bool) (name : A -> B) (names : list B) (f : A -> Z) l :
  (forall x y, same x y = true <-> x = y) -> NoDup names ->
  (forall x, In x l -> f x <> 0 -> In (name x) names) ->
  sum f l = sum (fun k => sum (fun x => if same (name x) k then f x else 0) l) names.
Proof.
  move=> spec once known; rewrite sum_swap; apply: sum_eq => x inside.
  case: (Z.eq_dec (f x) 0) => [->|some].
    by rewrite (sum_eq _ (fun _ => 0)) ?sum_zero // => k _; case: (same _ k).
  symmetry; apply: (sum_named id _ (fun _ => f x)) (known x inside some) => //.
  by rewrite map_id.
Qed.

(** A sum over pairs is a sum over the members of a list, if all holders are listed. *)
Lemma sum_by_holder (ms : list member) (a : assignment) (f : partition * member -> Z) :
  NoDup ms -> (forall p c, In (p, c) a -> f (p, c) <> 0 -> In c ms) ->
  sum f a = sum (fun c => sum (fun pair => if (snd pair =? c)%positive then f pair else 0) a) ms.
Proof. by move=> once known; apply: sum_by_name Pos.eqb_eq once _ => -[p c]; exact: known. Qed.

(** What each pair pays its member is what members get: load times price. *)
Lemma sum_by_member (ms : list member) (a : assignment) (u : member -> Z) :
  NoDup ms -> (forall p c, In (p, c) a -> In c ms) ->
  sum (fun pair => u (snd pair)) a = sum (fun c => load a c * u c) ms.
Proof.
  move=> once known; rewrite (sum_by_holder ms) // => [p c /known|] //.
  by apply: sum_eq => c _; rewrite /load Z.mul_comm -sum_scale; apply: sum_eq; by_terms.
Qed.

Lemma load_nonneg a c : 0 <= load a c.
Proof. by apply: sum_nonneg; by_terms. Qed.

Lemma subscribed_assignable i p c : In c (subscribes i p) -> assignable i p.
Proof. by rewrite /assignable; case: (subscribes i p). Qed.

Lemma holders_are_members i a : well_formed i -> valid i a ->
  forall p c, In (p, c) a -> In c (members i).
Proof. move=> wf v p c /(assigned_to_subscribers i a v) [_]; exact: subscribers_are_members. Qed.

(** The assigned partitions are the assignable ones, of which each has a holder. *)
Lemma assigned_spec i a p : valid i a ->
  In p (map fst a) <-> In p (partitions i) /\ assignable i p.
Proof.
  move=> v; split=> [|[]]; last exact: assigned_if_assignable.
  move=> /in_map_iff [[q c] [<-]] /(assigned_to_subscribers i a v) [known sub].
  by split=> //; exact: subscribed_assignable sub.
Qed.
