(** Tables, the data structure of the checker: one pass over a list of a million entries
    counts what every member or topic has of it, and the table then holds the sums that the
    definitions state, entry by entry. Also here: tests over lists without deep recursion,
    each with what it decides. *)

From Coq Require Import FMapPositive SetoidList.
From Assignor Require Import Sums.

Module Map := PositiveMap.
Module MapFacts := PositiveMapAdditionalFacts.

(** A sum and a list of results, computed with constant stack. *)
Definition total {A} (f : A -> Z) (l : list A) : Z := fold_left (fun n x => n + f x) l 0.

Lemma total_sum {A} (f : A -> Z) l : total f l = sum f l.
Proof. by apply: (fold_ind (fun l n => n = sum f l)) => // m x n ->; rewrite sum_app /=; lia. Qed.

Definition collect {A B} (f : A -> B) (l : list A) : list B :=
  fold_left (fun found x => f x :: found) l [].

Lemma collect_map {A B} (f : A -> B) l : collect f l = rev (map f l).
Proof.
  apply: (fold_ind (fun l found => found = rev (map f l))) => // m x found ->.
  by rewrite map_app rev_unit.
Qed.

Lemma in_collect {A B} (f : A -> B) l y : In y (collect f l) <-> exists x, f x = y /\ In x l.
Proof. by rewrite collect_map -in_rev in_map_iff. Qed.

(** The entry of a table, 0 where it has none; sums of values by key. *)
Definition get (table : Map.t Z) (k : positive) : Z :=
  match Map.find k table with Some n => n | None => 0 end.

Definition tally {A} (key : A -> positive) (value : A -> Z) (l : list A) : Map.t Z :=
  fold_left (fun table x => let k := key x in Map.add k (get table k + value x) table)
    l (Map.empty Z).

Lemma find_add {A} (table : Map.t A) k x d :
  Map.find d (Map.add k x table) = if (k =? d)%positive then Some x else Map.find d table.
Proof.
  case: Pos.eqb_spec => [->|differ]; first by rewrite Map.gss.
  by rewrite Map.gso //; move=> same; apply: differ.
Qed.

Lemma get_tally {A} (key : A -> positive) value (l : list A) k :
  get (tally key value l) k = sum (fun x => if (key x =? k)%positive then value x else 0) l.
Proof.
  apply: (fold_ind (fun l table => get table k = sum _ l)) => [|m x table IH].
    by rewrite /get Map.gempty.
  by rewrite sum_app -IH {1}/get find_add /=; case: Pos.eqb_spec => [->|_]; rewrite /get; lia.
Qed.

(** A function, computed once for each name of a list. *)
Definition tabulate {A} (f : positive -> A) (l : list positive) : Map.t A :=
  fold_left (fun table k => Map.add k (f k) table) l (Map.empty A).

Lemma find_tabulate {A} (f : positive -> A) l k :
  (In k l -> Map.find k (tabulate f l) = Some (f k)) /\
  (forall x, Map.find k (tabulate f l) = Some x -> In k l /\ x = f k).
Proof.
  pose P l table := (In k l -> Map.find k table = Some (f k)) /\
    (forall x, Map.find k table = Some x -> In k l /\ x = f k).
  apply: (fold_ind P) => [|m d table [into out]]; first by split=> // x; rewrite Map.gempty.
  split=> [|x]; rewrite find_add in_app_iff; case: Pos.eqb_spec => [->|differ] //.
  - by case=> [/into|[]].
  - by move=> [<-]; split=> //; right; left.
  - by case/out; split=> //; left.
Qed.

Lemma get_tabulate (f : positive -> Z) l k : In k l -> get (tabulate f l) k = f k.
Proof. by rewrite /get => /(proj1 (find_tabulate f l k)) ->. Qed.

(** A sum in which a value that depends on a key is computed once per key. *)
Fixpoint memo_beside {A} (n : Z) (table : Map.t Z) (key : A -> positive) (value : A -> Z)
    (more : A -> Z -> Z) (l : list A) : Z :=
  match l with
  | [] => n
  | x :: l => let (v, table) := match Map.find (key x) table with
                                | Some v => (v, table)
                                | None => let v := value x in (v, Map.add (key x) v table)
                                end in memo_beside (n + more x v) table key value more l
  end.

Definition memo_total {A} := @memo_beside A 0 (Map.empty Z).

Lemma memo_total_sum {A} (key : A -> positive) value more (l : list A) :
  (forall x y, In x l -> In y l -> key x = key y -> value x = value y) ->
  memo_total key value more l = sum (fun x => more x (value x)) l.
Proof.
  move=> same; rewrite /memo_total; suff step : forall m n table, incl m l ->
    (forall x v, In x l -> Map.find (key x) table = Some v -> v = value x) ->
    memo_beside n table key value more m = n + sum (fun x => more x (value x)) m.
    by rewrite step // => x v _; rewrite Map.gempty.
  elim=> [|x m IH] n table /= within right; first by lia.
  have [inside rest] := incl_cons_inv within.
  case found: Map.find => [v|]; first by rewrite IH // (right x v inside found); lia.
  rewrite IH => [//|y v there|]; last by lia.
  by rewrite find_add; case: Pos.eqb_spec => [equal [<-]|_]; [exact: same|exact: right].
Qed.

(** Those that pass a test, in some order. *)
Definition select {A} (test : A -> bool) (l : list A) : list A :=
  fold_left (fun found x => if test x then x :: found else found) l [].

Lemma select_filter {A} (test : A -> bool) l : select test l = rev (filter test l).
Proof.
  apply: (fold_ind (fun l found => found = rev (filter test l))) => // m x found ->.
  by rewrite filter_app /=; case: (test x); rewrite ?rev_unit ?app_nil_r.
Qed.

Lemma sum_select {A} (test : A -> bool) f l : sum f (select test l) = sum f (filter test l).
Proof. by rewrite select_filter -(sum_permutation f _ _ (Permutation_rev _)). Qed.

Lemma in_select {A} (test : A -> bool) l x : In x (select test l) <-> In x l /\ test x = true.
Proof. by rewrite select_filter -in_rev filter_In. Qed.

Lemma select_once {A} (test : A -> bool) l : NoDup l -> NoDup (select test l).
Proof. by rewrite select_filter => once; apply: NoDup_rev; exact: NoDup_filter. Qed.

(** Sets of names. *)
Definition is_in (k : positive) (found : Map.t unit) : bool :=
  match Map.find k found with Some _ => true | None => false end.

Definition set_of {A} (key : A -> positive) (l : list A) : Map.t unit :=
  fold_left (fun found x => if is_in (key x) found then found else Map.add (key x) tt found)
    l (Map.empty unit).

Lemma is_in_set_of {A} (key : A -> positive) l k :
  is_in k (set_of key l) = true <-> In k (map key l).
Proof.
  apply: (fold_ind (fun l found => is_in k found = true <-> In k (map key l))) => [|m x found IH].
    by rewrite /is_in Map.gempty.
  rewrite map_app in_app_iff -IH /=; case yes: (is_in (key x) found).
    by split=> [|[|[<-|]]] //; left.
  rewrite {1}/is_in find_add -/(is_in k found).
  by case: Pos.eqb_spec => [->|differ]; intuition.
Qed.

(** Sorted pairs are distinct without a set. *)
Fixpoint increasing {A} (above : Z) (key : A -> positive) (l : list A) : bool :=
  match l with
  | [] => true
  | x :: l => if above <? Zpos (key x) then increasing (Zpos (key x)) key l else false
  end.

Lemma increasing_spec {A} (key : A -> positive) l : forall above, increasing above key l = true ->
  NoDup (map key l) /\ forall k, In k (map key l) -> above < Zpos k.
Proof.
  elim: l => [|x l IH] above /=; first by split; [constructor|].
  case: Z.ltb_spec => // more /IH [once all]; split.
    by constructor=> // /all; lia.
  by move=> k [<-|/all]; lia.
Qed.

(** The largest value of a list; 0 of none, and if all are below 0. *)
Definition largest_of {A} (f : A -> Z) (l : list A) : Z := fold_left (fun n x => Z.max n (f x)) l 0.

Lemma largest_nonneg {A} (f : A -> Z) l : 0 <= largest_of f l.
Proof. by apply: (fold_ind (fun _ n => 0 <= n)) => *; lia. Qed.

Lemma largest_spec {A} (f : A -> Z) l :
  (forall x, In x l -> f x <= largest_of f l) /\
  (largest_of f l = 0 \/ exists x, In x l /\ f x = largest_of f l).
Proof.
  apply: (fold_ind (fun l n => (forall x, In x l -> f x <= n) /\
    (n = 0 \/ exists x, In x l /\ f x = n))) => [|m x n [above some]]; first by split=> //; left.
  split=> [y /in_app_iff [/above|[<-|]] //|]; [lia|lia|].
  case: (Z.max_spec n (f x)) => -[_ ->]; last case: some => [|[y [there same]]]; [|by left|].
    by right; exists x; rewrite in_app_iff; split=> //; right; left.
  by right; exists y; rewrite in_app_iff; split=> //; left.
Qed.

(** The least value; 0 of none. *)
Definition least_of {A} (f : A -> Z) (l : list A) : Z :=
  match l with [] => 0 | x :: l => f x - largest_of (fun y => f x - f y) l end.

Lemma least_le {A} (f : A -> Z) l x : In x l -> least_of f l <= f x.
Proof.
  case: l => [|y l] //= [<-|there]; first by have := largest_nonneg (fun x => f y - f x) l; lia.
  by have [/(_ x there)] := largest_spec (fun x => f y - f x) l; lia.
Qed.

Lemma least_attained {A} (f : A -> Z) l : l <> [] -> exists x, In x l /\ f x = least_of f l.
Proof.
  case: l => [|y l] // _; case: (largest_spec (fun x => f y - f x) l) => _ /= [->|[x [there <-]]].
    by exists y; split; [left|lia].
  by exists x; split; [right|lia].
Qed.

(** Lists one after another; names without repetition. *)
Definition flatten {A B} (f : A -> list B) (l : list A) : list B :=
  fold_left (fun found x => rev_append (f x) found) l [].

Lemma in_flatten {A B} (f : A -> list B) l y :
  In y (flatten f l) <-> exists x, In x l /\ In y (f x).
Proof.
  rewrite -in_flat_map.
  apply: (fold_ind (fun l found => In y found <-> In y (flat_map f l))) => // m x found IH.
  by rewrite flat_map_app rev_append_rev !in_app_iff -in_rev IH /=; tauto.
Qed.

Definition unique {A} (key : A -> positive) (l : list A) : list positive :=
  Map.fold (fun k _ found => k :: found) (set_of key l) [].

Lemma unique_spec {A} (key : A -> positive) l : NoDup (unique key l) /\
  forall k, In k (unique key l) <-> In k (map key l).
Proof.
  rewrite /unique Map.fold_1 -[fold_left _ _ _]/(collect fst _); split=> [|k].
    rewrite collect_map; apply: NoDup_rev.
    elim: (Map.elements_3w (set_of key l)) => [|x m new _] /=; first by constructor.
    by constructor=> // /in_map_iff [y [same there]]; case: new; apply/InA_alt; exists y.
  rewrite in_collect -is_in_set_of /is_in; split=> [[[e u] [<- there]]|].
    by rewrite (Map.elements_complete _ _ _ there).
  by case found: Map.find => [u|] // _; exists (k, u); split=> //; exact: Map.elements_correct.
Qed.

Lemma in_unique {A} (key : A -> positive) l x : In x l -> In (key x) (unique key l).
Proof. by move=> inside; apply/(proj2 (unique_spec key l)); exact: in_map. Qed.

Definition distinct {A} (key : A -> positive) (l : list A) : bool :=
  increasing 0 key l || (total (fun _ => 1) (unique key l) =? total (fun _ => 1) l).

Lemma distinct_spec {A} (key : A -> positive) l : distinct key l = true <-> NoDup (map key l).
Proof.
  have [once same] := unique_spec key l.
  rewrite /distinct orb_true_iff !total_sum !sum_of_ones Z.eqb_eq Nat2Z.inj_iff -(map_length key l).
  split=> [[/increasing_spec []|size]|fresh] //; last first.
    by right; apply/Permutation_length/NoDup_Permutation.
  by apply: NoDup_incl_NoDup once _ _ => [|k /same]; first by rewrite size.
Qed.
