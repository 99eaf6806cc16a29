(** Balance after sums of moves and mismatches: assignments that are as good as can be in these
    have each partition on one of the members that are best for it. So they are the valid
    assignments of a narrowed instance, in which topics are parts of the topics and only best
    members subscribe; a certificate for that instance is one of them.

    Neither the parts nor their members are trusted, nor the base that puts levels in order:
    where no counts that are as good cost more than [least_cost], no assignment that is as good
    has a partition elsewhere. [narrowed_sound]: what a certificate then proves of their load
    vectors, and of those that are as balanced. This is [narrowed] and [separate_values] of
    verify/policy/best_alone.py. *)

From Assignor Require Import Sums Keys Lexicographic Region Prices Levels Tables Checker.
From Assignor Require Import CheckBalance CheckRegion CheckCertificate.

Section Narrowed.

Variables (d : document) (parts : list topic) (part : partition -> topic).
Variable best : topic -> list member.
Let i := instance_of d.

(** Owners that are not among the best lose what they own. *)
Definition narrowed : document :=
  let sets := subscriber_sets best parts in
  Document (member_list d) (partition_list d) parts part best
    (fun p => match owner_at d p with
              | Some c => if is_subscriber sets (part p) c then Some c else None
              | None => None
              end)
    (lag_at d) (racks_at d) (is_far_from d) (capacity_at d)
    (member_count d) (partition_count d) (total (fun _ => 1) parts).

Let j := instance_of narrowed.

(** What partitions cost at least, each by itself, if elsewhere one costs 1 less. *)
Definition discount (sets : Map.t (Map.t unit)) (p : partition) (c : member) : Z :=
  if is_subscriber sets (part p) c then 0 else -1.

Definition least_cost (w : level) : Z :=
  let price := discount (subscriber_sets best parts) in
  let count := total (fun _ => 1) parts in
  let racks p := if snd w =? 0 then 1%positive else racks_at d p in
  let sort p := paired (topic_count d) (topic_of i p) (racks p) in
  memo_total (fun p => paired count (part p) (sort p))
    (fun p => without_owner i (snd w) (fun _ => true) (price p) p)
    (fun p => with_owner i (fst w) (snd w) (fun _ => true) (price p) p)
    (select (is_assignable i) (partitions i)).

(** Levels as one, in which the first counts most if the base is large. *)
Definition combined (base : Z) (levels : list level) : level :=
  fold_left (fun w u => (base * fst w + fst u, base * snd w + snd u)) levels (0, 0).

Definition narrowed_bound (lowest : Map.t Z) (rows : Map.t pool_row) (price : member -> Z)
    (stop : Z -> Z) (x y : Z) : Z :=
  x * (owned_fast i - owned_fast j) + certificate_bound narrowed lowest rows price stop x y.

Lemma combined_same base levels f g : (forall u, In u levels -> values f u = values g u) ->
  values f (combined base levels) = values g (combined base levels).
Proof.
  apply: (fold_ind (fun l w => (forall u, In u l -> _ u = _ u) -> values f w = values g w)) => //.
  move=> l u w IH same; have add h : values h (base * fst w + fst u, base * snd w + snd u) =
      base * values h w + values h u by rewrite /values /=; ring.
  by rewrite !add IH => [v there|]; [apply/same/in_or_app; left|rewrite same //; exact: in_elt].
Qed.

Variables (base : Z) (levels : list level) (counts : Z * Z) (a b : assignment).
Hypotheses (known : check_document d = true) (va : valid i a) (vb : valid i b).
Hypotheses (fine : check_document narrowed = true) (vja : valid j a).
Hypothesis cheap : values counts (combined base levels) <= least_cost (combined base levels).
Hypothesis as_good :
  forall u, In u levels -> values counts u = values (moves i b, mismatches i b) u.

Lemma narrowed_valid : valid j b.
Proof.
  have wf := check_document_sound d known; have [_ [_ [_ small]]] := lists_known narrowed fine.
  have same p : In p (partitions i) -> assignable j p <-> assignable i p.
    by move=> there; have := assigned_spec i a p va; have := assigned_spec j a p vja; intuition.
  move: cheap; rewrite (combined_same _ _ _ _ as_good); set sets := subscriber_sets best parts.
  set w := combined base levels => enough.
  have none : forall pair, In pair b -> discount sets (fst pair) (snd pair) = 0.
    apply: sum_tight => [pair _|]; first by rewrite /discount; case: is_subscriber.
    rewrite sum_zero; suff : least_cost w <=
        sum (fun pair => cost i (fst w) (snd w) (fst pair) (snd pair)
          + discount sets (fst pair) (snd pair)) b.
      by rewrite sum_add total_cost //; move: enough; rewrite /values /=; lia.
    rewrite /least_cost memo_total_sum => [p q|].
      rewrite !in_select !is_assignable_spec => -[in_p some_p] [in_q some_q].
      have small_j r in_r some_r := topic_small narrowed r (proj2 (same r in_r) some_r).
      move=> /(paired_once _ _ _ _ _ (small_j p in_p some_p) (small_j q in_q some_q)) [mine].
      move=> /(paired_once _ _ _ _ _ (topic_small d p some_p) (topic_small d q some_q)) [topics].
      by rewrite /discount -[part p]/(topic_of j p) mine; exact: without_owner_same.
    rewrite sum_select -/(assignable_partitions i) -(sum_assigned i b) //.
    apply: sum_le => -[p c] /(assigned_to_subscribers i b vb) [_ sub]; exact: with_owner_le.
  split=> [|p c inside|p there /(same p there)]; [exact: assigned_once vb| |].
    split; first by case: (assigned_to_subscribers i b vb p c inside).
    have := none _ inside; rewrite /discount; case yes: is_subscriber => // _.
    have [there sub] := proj1 (is_subscriber_in _ _ _ _) yes; rewrite /subscribes /=.
    by rewrite (proj2 (Z.leb_le _ _) (proj1 (small _) there)).
  exact: (assigned_if_assignable i b vb p there).
Qed.

Lemma moves_narrowed : moves i b = moves j b + (owned i - owned j).
Proof.
  rewrite /moves; suff : kept i b = kept j b by lia.
  apply: sum_eq => -[p c] /(assigned_to_subscribers j b narrowed_valid) [_ sub].
  have there := topic_known narrowed (part p) c fine sub; move: sub; rewrite /subscribes /=.
  case: (_ <=? _) => // sub; rewrite /is_owner /=; case: (_ <=? _) => //.
  case: (owner_at d p) => [o|] //; case yes: is_subscriber => //; case: Pos.eqb_spec => // same.
  by move/not_true_iff_false: yes; case; apply/is_subscriber_in; rewrite same.
Qed.

Theorem narrowed_sound threshold scale largest price stop x y :
  let places := place_table narrowed threshold scale largest in
  let lowest := lowest_table narrowed places in
  check_balance narrowed threshold scale largest places lowest (load_table a) a = true ->
  lexicographically_le (load_vector i a) (load_vector i b) /\
  (lexicographically_le (load_vector i b) (load_vector i a) ->
   narrowed_bound lowest (level_rows narrowed threshold places lowest) price stop x y
     <= x * moves i b + y * mismatches i b).
Proof.
  move=> places lowest balanced; have wf := check_document_sound narrowed fine.
  have [_ [_ least]] := check_balance_sound narrowed threshold scale largest fine a vja balanced.
  split=> [|le]; first exact: least narrowed_valid.
  have [|factor [good _]] // := scale_with j [] wf.
  have order v w := load_vector_by_powers (Z.of_nat (length (members j)) + 1) factor j v w good
    (Z.lt_succ_diag_r _).
  have most : dec_min j b.
    split=> [|e /least]; first exact: narrowed_valid.
    by rewrite !order; apply/Z.le_trans/order.
  have := certificate_bound_sound narrowed _ _ _ fine a price stop x y b vja balanced most.
  rewrite -[mismatches _ b]/(mismatches i b) -/places -/lowest /narrowed_bound moves_narrowed.
  by rewrite -/j /owned_fast !total_sum -/(owned i) -/(owned j); lia.
Qed.

End Narrowed.
