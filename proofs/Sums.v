(** Two assignments that are valid for one instance hold the same partitions, so a sum over
    partitions does not depend on the assignment; and a sum over pairs of a value that
    depends on the member alone is a sum over members of load times value. *)

From Coq Require Import ZArith List Lia Permutation ssreflect.
From Assignor Require Import Definitions.
Import ListNotations.
Open Scope Z_scope.

Lemma sum_add {A} (f g : A -> Z) l : sum (fun x => f x + g x) l = sum f l + sum g l.
Proof. elim: l => [|x l IH] //=; lia. Qed.

Lemma sum_sub {A} (f g : A -> Z) l : sum (fun x => f x - g x) l = sum f l - sum g l.
Proof. elim: l => [|x l IH] //=; lia. Qed.

Lemma sum_scale {A} (f : A -> Z) k l : sum (fun x => k * f x) l = k * sum f l.
Proof. elim: l => [|x l IH] //=; lia. Qed.

Lemma sum_le {A} (f g : A -> Z) l :
  (forall x, In x l -> f x <= g x) -> sum f l <= sum g l.
Proof.
  elim: l => [|x l IH] /= H; first by lia.
  have := H x (or_introl eq_refl); have := IH (fun y h => H y (or_intror h)); lia.
Qed.

(** Where sums of which one is nowhere below are equal, all of their terms are. *)
Lemma sum_tight {A} (f g : A -> Z) l : (forall x, In x l -> f x <= g x) ->
  sum g l <= sum f l -> forall x, In x l -> f x = g x.
Proof.
  elim: l => [|x l IH] //= below total y.
  have first := below x (or_introl eq_refl).
  have rest := sum_le f g l (fun z h => below z (or_intror h)).
  by case=> [<-|inside]; [lia|apply: IH => //; [move=> z h; apply: below; right|lia]].
Qed.

Lemma sum_eq {A} (f g : A -> Z) l :
  (forall x, In x l -> f x = g x) -> sum f l = sum g l.
Proof.
  elim: l => [|x l IH] //= H.
  by rewrite (H x (or_introl eq_refl)) (IH (fun y h => H y (or_intror h))).
Qed.

Lemma sum_zero {A} (l : list A) : sum (fun _ => 0) l = 0.
Proof. elim: l => [|x l IH] //=. Qed.

Lemma sum_nonneg {A} (f : A -> Z) l : (forall x, In x l -> 0 <= f x) -> 0 <= sum f l.
Proof. move=> H; rewrite -(sum_zero l); exact: sum_le. Qed.

Lemma sum_map {A B} (h : A -> B) (f : B -> Z) l : sum f (map h l) = sum (fun x => f (h x)) l.
Proof. elim: l => [|x l IH] //=; lia. Qed.

Lemma sum_filter {A} (f : A -> Z) (keep : A -> bool) l :
  sum f (filter keep l) = sum (fun x => if keep x then f x else 0) l.
Proof. elim: l => [|x l IH] //=; case: (keep x) => /=; lia. Qed.

Lemma sum_of_ones {A} (l : list A) : sum (fun _ => 1) l = Z.of_nat (length l).
Proof.
  elim: l => [|x l IH] //; change (1 + sum (fun _ => 1) l = Z.of_nat (S (length l))); lia.
Qed.

Lemma sum_permutation {A} (f : A -> Z) l m : Permutation l m -> sum f l = sum f m.
Proof. elim=> //= *; lia. Qed.

Lemma sum_swap {A B} (f : A -> B -> Z) l m :
  sum (fun x => sum (f x) m) l = sum (fun y => sum (fun x => f x y) l) m.
Proof.
  elim: l => [|x l IH] /=; first by rewrite sum_zero.
  by rewrite IH -sum_add.
Qed.

(** Of a list without repetition, exactly one element is a given one of its elements. *)
Lemma sum_one_by {A} (same : A -> A -> bool) (u : A -> Z) x l :
  (forall y, same x y = true <-> x = y) -> NoDup l -> In x l ->
  sum (fun y => if same x y then u y else 0) l = u x.
Proof.
  move=> spec; elim: l => [|y l IH] //= /NoDup_cons_iff [fresh once] [here|there].
    subst y; rewrite (proj2 (spec x) eq_refl).
    rewrite (sum_eq _ (fun _ => 0)) ?sum_zero => [z inside|]; last by lia.
    by case E: (same x z) => //; move/spec: E => E; rewrite -E in inside.
  by rewrite IH //; case E: (same x y) => //; move/spec: E => E; rewrite -E in fresh.
Qed.

Lemma sum_one (u : positive -> Z) (c : positive) l :
  NoDup l -> In c l -> sum (fun d => if (c =? d)%positive then u d else 0) l = u c.
Proof. by apply: sum_one_by => d; exact: Pos.eqb_eq. Qed.

(** Of an assignment, exactly one pair is that of a given partition. *)
Lemma sum_of_holder (f : member -> Z) (a : assignment) p c : NoDup (map fst a) -> In (p, c) a ->
  sum (fun pair => if (fst pair =? p)%positive then f (snd pair) else 0) a = f c.
Proof.
  elim: a => [|[q d] a IH] //= /NoDup_cons_iff [fresh once] [[same same']|inside].
    rewrite same same' Pos.eqb_refl (sum_eq _ (fun _ => 0)) ?sum_zero => [pair there|]; last by lia.
    by case: Pos.eqb_spec => // here; case: fresh; rewrite same -here; exact: in_map.
  rewrite IH //; case: Pos.eqb_spec => // same; subst q.
  case: fresh; exact: (in_map fst a (p, c)).
Qed.

Lemma subscribed_assignable i p c : In c (subscribes i p) -> assignable i p.
Proof. by rewrite /assignable; case: (subscribes i p). Qed.

Lemma holders_are_members i a : well_formed i -> valid i a ->
  forall p c, In (p, c) a -> In c (members i).
Proof.
  move=> wf v p c inside.
  have [_ sub] := assigned_to_subscribers i a v p c inside.
  exact: (subscribers_are_members i wf _ c sub).
Qed.

(** Two valid assignments hold the same partitions. *)
Lemma same_partitions i a b : valid i a -> valid i b ->
  Permutation (map fst a) (map fst b).
Proof.
  move=> va vb; apply: NoDup_Permutation; [exact: assigned_once va|exact: assigned_once vb|].
  suff half : forall x y, valid i x -> valid i y ->
    forall p, In p (map fst x) -> In p (map fst y) by move=> p; split; exact: half.
  move=> x y vx vy p /in_map_iff [[q c] [<- inside]].
  have [known sub] := assigned_to_subscribers i x vx q c inside.
  by apply: (assigned_if_assignable i y vy) => //; exact: subscribed_assignable sub.
Qed.

Lemma sum_of_partitions i a b (f : partition -> Z) : valid i a -> valid i b ->
  sum (fun pair => f (fst pair)) a = sum (fun pair => f (fst pair)) b.
Proof.
  move=> va vb; rewrite -!(sum_map fst f).
  exact: sum_permutation (same_partitions i a b va vb).
Qed.

(** What each pair pays its member is what members get: load times price. *)
Lemma sum_by_member (ms : list member) (a : assignment) (u : member -> Z) :
  NoDup ms -> (forall p c, In (p, c) a -> In c ms) ->
  sum (fun pair => u (snd pair)) a = sum (fun c => load a c * u c) ms.
Proof.
  move=> once known.
  have step c : load a c * u c = sum (fun pair => if (snd pair =? c)%positive then u c else 0) a.
    rewrite /load Z.mul_comm -sum_scale; apply: sum_eq => pair _; case: Pos.eqb; lia.
  rewrite (sum_eq _ _ ms (fun c _ => step c)) sum_swap.
  by apply: sum_eq => -[p c] inside /=; rewrite sum_one //; exact: (known p).
Qed.

Lemma load_nonneg a c : 0 <= load a c.
Proof. by apply: sum_nonneg => pair _; case: Pos.eqb. Qed.
