(** Regions and price bounds that are computed from tables: [region_of] has, for the pools of
    a list, the bounds that [tightened] has, and [fast_bound] is no more than what prices
    prove of every assignment within it. Each set of racks of a topic has its cheapest member
    computed once, and each owned partition what its owner adds.

    This is [pool_of] and [cost_bound] of verify/certificate.py. *)

From Assignor Require Import Sums Region Prices Tables Checker.

Record pool_row := PoolRow {
  row_units : Z;
  row_members : list member;
  row_limits : Map.t (Z * Z) (* least and most *)
}.

(** The rows of pools, numbered by names, from the members that are eligible at first. *)
Definition row_of (units : Map.t Z) (able : positive -> list member)
    (limits : positive -> member -> Z * Z) (k : positive) : pool_row :=
  let n := get units k in
  let full := n =? total (fun c => snd (limits k c)) (able k) in
  let empty := n =? total (fun c => fst (limits k c)) (able k) in
  let tight c := (if full then snd (limits k c) else fst (limits k c),
                  if negb full && empty then fst (limits k c) else snd (limits k c)) in
  let ms := select (fun c => 0 <? snd (tight c)) (able k) in
  PoolRow n ms (tabulate tight ms).

Definition rows_of (i : instance) (names : list positive) (pool_at : topic -> Z)
    (able : positive -> list member) (limits : positive -> member -> Z * Z) : Map.t pool_row :=
  let units := tally (fun p => Z.to_pos (pool_at (topic_of i p))) (fun _ => 1)
                 (select (is_assignable i) (partitions i)) in
  tabulate (row_of units able limits) names.

Definition row (rows : Map.t pool_row) (k : Z) : pool_row :=
  match Map.find (Z.to_pos k) rows with
  | Some row => row
  | None => PoolRow 0 [] (Map.empty (Z * Z))
  end.

Definition limit (found : pool_row) (c : member) : Z * Z :=
  match Map.find c (row_limits found) with Some limit => limit | None => (0, 0) end.

Definition region_of (names : list positive) (pool_at : topic -> Z)
    (rows : Map.t pool_row) : region :=
  Region (collect Zpos names) pool_at (fun k => row_members (row rows k))
    (fun k c => fst (limit (row rows k) c)) (fun k c => snd (limit (row rows k) c)).

Definition loose_region (names : list positive) (pool_at : topic -> Z)
    (able : positive -> list member) (limits : positive -> member -> Z * Z) : region :=
  Region (collect Zpos names) pool_at (fun k => able (Z.to_pos k))
    (fun k c => fst (limits (Z.to_pos k) c)) (fun k c => snd (limits (Z.to_pos k) c)).

(** What prices take from a pool, by its row: [paid]. *)
Definition paid_by (found : pool_row) (price : member -> Z) (stop : Z) : Z :=
  stop * (row_units found - total (fun c => fst (limit found c)) (row_members found))
  + total (fun c => let n := limit found c in let u := price c in
             u * fst n + (snd n - fst n) * Z.max 0 (u - stop)) (row_members found).

Section Rows.

Variables (i : instance) (names : list positive) (pool_at : topic -> Z).
Variables (able : positive -> list member) (limits : positive -> member -> Z * Z).
Hypothesis wf : well_formed i.
Hypothesis names_once : NoDup names.
Hypothesis able_once : forall k, In k names -> NoDup (able k).
Hypothesis pools_named : forall t, 0 < pool_at t.

Let rows := rows_of i names pool_at able limits.
Let r := region_of names pool_at rows.
Let loose := loose_region names pool_at able limits.

Lemma row_units_spec name : In name names ->
  row_units (row rows (Zpos name)) = units i r (Zpos name).
Proof.
  move=> known; rewrite /row /rows /rows_of /= (proj1 (find_tabulate _ _ _) known) /=.
  rewrite get_tally sum_select; apply: sum_eq => p _; rewrite /pool_of_partition /=.
  by have := pools_named (topic_of i p); case: Pos.eqb_spec; case: Z.eqb_spec; lia.
Qed.

Lemma paid_by_spec name price stop : In name names ->
  paid_by (row rows (Zpos name)) price stop = paid i r (Zpos name) price stop.
Proof. by move=> known; rewrite /paid_by !total_sum row_units_spec. Qed.

Lemma region_of_well_formed : region_well_formed r.
Proof.
  split=> [|k /in_collect [name [<- known]]] /=.
    rewrite collect_map; apply/NoDup_rev/FinFun.Injective_map_NoDup => // x y same.
    by case: same.
  rewrite /row /rows /rows_of (proj1 (find_tabulate _ _ _) known) /=.
  exact/select_once/able_once.
Qed.

(** Where all or none must reach their most, the bounds say so. *)
Lemma within_region_of a : valid i a -> within i loose a -> within i r a.
Proof.
  move=> v w; have rwf : region_well_formed loose.
    split=> [|k /in_collect [name [<- known]]]; first exact: pools_once region_of_well_formed.
    exact: able_once.
  have fits name c (known : In name names) (inside : In c (able name)) :
      let found := row rows (Zpos name) in let n := load_in i loose a (Zpos name) c in
      (0 < n -> In c (row_members found)) /\
      (In c (row_members found) -> fst (limit found c) <= n <= snd (limit found c)).
    have listed : In (Zpos name) (pools loose) by apply/in_collect; exists name.
    have bounds e := loads_of_pools i loose a w (Zpos name) e listed.
    have total := total_load_in i loose a (Zpos name) wf rwf v w listed.
    have same := row_units_spec name known.
    move: same; rewrite /row /rows /rows_of (proj1 (find_tabulate _ _ _) known) /row_of /=.
    rewrite -[units i r _]/(units i loose (Zpos name)) !total_sum => ->.
    set tight := fun c => (_, _).
    have [low high] : fst (tight c) <= load_in i loose a (Zpos name) c <= snd (tight c).
      have := bounds c inside; rewrite /tight /= -total; case: Z.eqb_spec => [full|_] /=.
        have /= := sum_tight _ _ _ (fun e there => proj2 (bounds e there))
          (Z.eq_le_incl _ _ (eq_sym full)) c inside; lia.
      case: Z.eqb_spec => [empty|_] //=.
      have /= := sum_tight _ _ _ (fun e there => proj1 (bounds e there))
        (Z.eq_le_incl _ _ empty) c inside; lia.
    split=> [some|there]; last by rewrite /limit /= (proj1 (find_tabulate _ _ _)).
    by apply/in_select; split=> //; apply/Z.ltb_lt; exact: (Z.lt_le_trans _ _ _ some high).
  split=> [|p c held|k c /in_collect [name [<- known]] there].
  - exact: (pools_known i loose a w).
  - have /in_collect [name [same known]] := pools_known i loose a w p c held.
    have := held_by_eligible i loose a w p c held.
    change (pool_of_partition i r p) with (pool_of_partition i loose p); rewrite -same => inside.
    apply: (proj1 (fits name c known inside)).
    apply: Z.lt_le_trans (sum_element _ a (p, c) _ held); last by by_terms.
    by rewrite /= Pos.eqb_refl same Z.eqb_refl.
  - apply: (proj2 (fits name c known _) there).
    by move: there; rewrite /= /row (proj1 (find_tabulate _ _ _) known) => /in_select [].
Qed.

End Rows.

(** What prices prove. *)
Definition is_able (found : pool_row) (c : member) : bool :=
  match Map.find c (row_limits found) with Some _ => true | None => false end.

Lemma able_in_rows i names pool_at able limits k c :
  let found := row (rows_of i names pool_at able limits) k in
  In c (row_members found) <-> is_able found c = true.
Proof.
  rewrite /row /is_able /=; case same: Map.find => [found|]; last by rewrite Map.gempty.
  have [_ ->] := proj2 (find_tabulate _ _ _) _ same; split=> /= [there|].
    by rewrite (proj1 (find_tabulate _ _ _) there).
  by case E: Map.find => // _; case: (proj2 (find_tabulate _ _ _) _ E).
Qed.

Definition away (i : instance) (per_mismatch : Z) (price : member -> Z) (p : partition)
    (c : member) : Z := price c + (if is_far i p c then per_mismatch else 0).

Definition without_owner (i : instance) (y : Z) (able : member -> bool) (price : member -> Z)
    (p : partition) : Z := least_of (away i y price p) (select able (subscribes i p)).

(** The least cost of a partition, given that of its set of racks without owner. *)
Definition with_owner (i : instance) (x y : Z) (able : member -> bool) (price : member -> Z)
    (p : partition) (n : Z) : Z :=
  match owner i p with
  | None => n
  | Some c => if able c then Z.min (n + x) (away i y price p c) else n + x
  end.

Lemma with_owner_le i x y able price p c : In c (subscribes i p) -> able c = true ->
  with_owner i x y able price p (without_owner i y able price p) <= cost i x y p c + price c.
Proof.
  move=> sub yes; rewrite /with_owner /cost /has_owner /is_owner.
  have : without_owner i y able price p <= away i y price p c by apply/least_le/in_select.
  rewrite /away; case: (owner i p) => [o|] /=; last by lia.
  by case: Pos.eqb_spec => [->|differ] /=; [rewrite yes; lia|case: (able o); lia].
Qed.

Lemma without_owner_same d y able price p q : let i := instance_of d in
  topic_of i p = topic_of i q -> (if y =? 0 then 1%positive else racks_at d p) =
    (if y =? 0 then 1%positive else racks_at d q) ->
  without_owner i y able price p = without_owner i y able price q.
Proof.
  rewrite /without_owner /subscribes => /= -> racks; apply: least_ext => c; move: racks.
  by rewrite /away /=; case: Z.eqb_spec => [->|_ ->] //; case: is_far_from; case: is_far_from.
Qed.

(** A pair of which the first is at most [n], as one number. *)
Definition paired (n : Z) (t c : positive) : positive := Z.to_pos (Zpos t + n * (Zpos c - 1)).

Lemma paired_once n t u c e : Zpos t <= n -> Zpos u <= n ->
  paired n t c = paired n u e -> t = u /\ c = e.
Proof.
  rewrite /paired => le_t le_u /Z2Pos.inj same; have {}same := same ltac:(nia) ltac:(nia).
  have equal : Zpos c = Zpos e by case: (Z.lt_trichotomy (Zpos c) (Zpos e)) => [|[|]]; nia.
  by rewrite equal in same; lia.
Qed.

Definition fast_bound (d : document) (names : list positive) (pool_at : topic -> Z)
    (rows : Map.t pool_row) (price : Z -> member -> Z) (stop : Z -> Z) (x y : Z) : Z :=
  let i := instance_of d in
  let pool p := pool_at (topic_of i p) in
  let racks p := if y =? 0 then 1%positive else racks_at d p in
  memo_total (fun p => paired (topic_count d) (topic_of i p) (racks p))
    (fun p => without_owner i y (is_able (row rows (pool p))) (price (pool p)) p)
    (fun p => with_owner i x y (is_able (row rows (pool p))) (price (pool p)) p)
    (select (is_assignable i) (partitions i))
  - total (fun k => paid_by (row rows (Zpos k)) (price (Zpos k)) (stop (Zpos k))) names.

Theorem fast_bound_sound d names pool_at able limits price stop x y b :
  let i := instance_of d in let rows := rows_of i names pool_at able limits in
  check_document d = true -> NoDup names -> (forall k, In k names -> NoDup (able k)) ->
  (forall t, 0 < pool_at t) ->
  valid i b -> within i (loose_region names pool_at able limits) b ->
  fast_bound d names pool_at rows price stop x y <= x * moves i b + y * mismatches i b.
Proof.
  move=> i rows known once able_once named v w.
  have wf := check_document_sound d known; set r := region_of names pool_at rows.
  have rwf : region_well_formed r by exact: region_of_well_formed.
  have inside : within i r b by exact: within_region_of.
  pose pool p := pool_at (topic_of i p).
  pose found p := is_able (row rows (pool p)).
  pose value p := without_owner i y (found p) (price (pool p)) p.
  pose more p := with_owner i x y (found p) (price (pool p)) p.
  apply: Z.le_trans (cost_bound i r (fun p => more p (value p)) price stop x y b wf rwf _ v inside).
    rewrite /fast_bound -/i memo_total_sum => [p q|].
      rewrite !in_select !is_assignable_spec => -[_ able_p] [_ able_q] same.
      have [topics racks] :=
        paired_once _ _ _ _ _ (topic_small d p able_p) (topic_small d q able_q) same.
      by rewrite /pool topics; exact: without_owner_same.
    rewrite /price_bound total_sum sum_select /= collect_map.
    rewrite -(sum_permutation _ _ _ (Permutation_rev _)) sum_map.
    rewrite (sum_eq _ _ names (fun k => paid_by_spec i names pool_at able limits named k
      (price (Zpos k)) (stop (Zpos k)))); exact: Z.le_refl.
  by move=> p c there [elig sub]; apply: with_owner_le => //; exact/able_in_rows.
Qed.
