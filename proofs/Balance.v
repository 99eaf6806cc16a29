(** A certificate of balance: a level per member or, with capacities, a threshold, which is
    any key. If every pair is on a member of least level among the partition's subscribers,
    and every load is level or level + 1 (with thresholds: at least the member's keys below
    its threshold, at most those not above it), then no valid assignment has a smaller load
    vector or, by levels, a smaller sum of squares. Conversely, every assignment as balanced
    satisfies the conditions of thresholds: they describe the optimal face. A level stands for
    the threshold that is the next key above it.

    This justifies [balance_fails] of verify/certificate.py; the argument is that of
    docs/method.md, "Step 2". *)

From Assignor Require Import Sums Keys Lexicographic Region.

Record within_levels (i : instance) (level : member -> Z) (a : assignment) : Prop := WithinLevels {
  levels_are_counts : forall c, In c (members i) -> 0 <= level c;
  loads_at_level : forall c, In c (members i) -> level c <= load a c <= level c + 1;
  on_lowest : forall p c d, In (p, c) a -> In d (subscribes i p) -> level c <= level d
}.

Record within_thresholds (i : instance) (threshold : member -> key) (a : assignment) : Prop :=
WithinThresholds {
  thresholds_are_keys :
    forall c, In c (members i) -> 0 < fst (threshold c) /\ 0 < snd (threshold c);
  loads_between : forall c, In c (members i) ->
    keys_below (capacity i c) (threshold c) <= load a c <= keys_upto (capacity i c) (threshold c);
  on_least : forall p c d, In (p, c) a -> In d (subscribes i p) ->
    key_le (threshold c) (threshold d) = true
}.

(** Levels count where capacities do not matter. *)
Definition capacities_alike (i : instance) : Prop := forall p c d, In p (partitions i) ->
  In c (subscribes i p) -> In d (subscribes i p) -> capacity i c = capacity i d.

(** Weak duality, and what equality means. A partition pays its member's price. *)
Section Duality.

Variables (i : instance) (cost : member -> Z -> Z) (price : member -> Z) (a b : assignment).
Hypotheses (wf : well_formed i) (va : valid i a) (vb : valid i b).

Let total (x : assignment) := sum (fun c => cost c (load x c)) (members i).

Hypothesis on_cheapest : forall p c d, In (p, c) a -> In d (subscribes i p) -> price c <= price d.
Hypothesis supports : forall c, In c (members i) ->
  cost c (load a c) - load a c * price c <= cost c (load b c) - load b c * price c.

Lemma duality : total a <= total b /\ (total b <= total a ->
  (forall c, In c (members i) ->
     cost c (load a c) - load a c * price c = cost c (load b c) - load b c * price c) /\
  (forall p c d, In (p, c) b -> In d (subscribes i p) -> price c <= price d)).
Proof.
  pose best (p : partition) :=
    sum (fun pair => if (fst pair =? p)%positive then price (snd pair) else 0) a.
  have held p c : In (p, c) a -> best p = price c.
    by apply: sum_of_holder; exact: assigned_once va.
  have below p c : In p (partitions i) -> In c (subscribes i p) -> best p <= price c.
    move=> known sub; have some := subscribed_assignable i p c sub.
    have /in_map_iff [[q e] [/= same inside]] := assigned_if_assignable i a va p known some.
    by subst q; rewrite (held p e inside); exact: on_cheapest inside sub.
  have above pair : In pair b -> best (fst pair) <= price (snd pair).
    by case: pair => p c /(assigned_to_subscribers i b vb) []; exact: below.
  have at_best : sum (fun pair => price (snd pair)) a = sum (fun pair => best (fst pair)) b.
    by rewrite (sum_assigned i b) // -(sum_assigned i a best) //; apply: sum_eq => -[p c] /held.
  have [more cheap] := sum_compare _ _ b above; have [gain tight] := sum_compare _ _ _ supports.
  have paid x : valid i x ->
      sum (fun pair => price (snd pair)) x = sum (fun c => load x c * price c) (members i).
    move=> vx; apply: sum_by_member; [exact: members_once|exact: holders_are_members].
  rewrite !sum_sub in gain tight; rewrite !paid // in more cheap at_best.
  rewrite /total; split=> [|le]; first by lia.
  split=> [|p c d inside sub]; first by apply: tight; lia.
  have [known _] := assigned_to_subscribers i b vb p c inside.
  by have /= <- := cheap ltac:(lia) (p, c) inside; exact: below.
Qed.

End Duality.

(** A function that falls up to [low] and rises from [high] is least between them. *)
Lemma valley (g : Z -> Z) low high n m :
  (forall k, 0 < k -> (k <= high -> g k <= g (k - 1)) /\ (low < k -> g (k - 1) <= g k) /\
     (k <= low -> g k < g (k - 1)) /\ (high < k -> g (k - 1) < g k)) ->
  low <= n <= high -> 0 <= n -> 0 <= m -> g n <= g m /\ (g m <= g n -> low <= m <= high).
Proof.
  move=> steps at_n posn posm.
  suff reach d : 0 <= d -> forall k, 0 <= k -> Z.abs (k - n) = d ->
      g n <= g k /\ (g k <= g n -> low <= k <= high) by apply: (reach (Z.abs (m - n))); lia.
  move: d; apply: natlike_ind => [|d posd IH] k posk far; first by rewrite (_ : k = n); lia.
  case: (Z.lt_ge_cases k n) => side.
    have := IH (k + 1) ltac:(lia) ltac:(lia); have := steps (k + 1) ltac:(lia).
    by rewrite Z.add_simpl_r; lia.
  have := IH (k - 1) ltac:(lia) ltac:(lia); have := steps k ltac:(lia); lia.
Qed.

Theorem levels_are_least_squares i level a : well_formed i -> valid i a ->
  within_levels i level a -> forall b, valid i b -> squares i a <= squares i b.
Proof.
  move=> wf va [_ loads lowest] b vb.
  apply: (proj1 (duality i (fun _ n => n * n) (fun c => 2 * level c + 1) a b wf va vb _ _)).
    by move=> p c d inside sub; have := lowest p c d inside sub; lia.
  move=> c /loads near; apply: (proj1 (valley (fun k => k * k - k * (2 * level c + 1))
    (level c) (level c + 1) _ _ _ near (load_nonneg a c) (load_nonneg b c))); nia.
Qed.

Section Thresholds.

Variables (i : instance) (threshold : member -> key) (scale : Z).
Hypothesis wf : well_formed i.
Hypothesis keys : forall c, In c (members i) -> 0 < fst (threshold c) /\ 0 < snd (threshold c).
Hypothesis capacities_scaled : scales scale i.
Hypothesis thresholds_scaled : forall c, In c (members i) -> is_scale scale (snd (threshold c)).

Let base := Z.of_nat (length (members i)) + 2.
Let large : 2 <= base := ltac:(rewrite /base; lia).
Let price c := growth base scale (threshold c).
Let low c := keys_below (capacity i c) (threshold c).
Let high c := keys_upto (capacity i c) (threshold c).
Let cost c := power base scale (capacity i c).

Lemma least_between c n m : In c (members i) -> low c <= n <= high c -> 0 <= n -> 0 <= m ->
  cost c n - n * price c <= cost c m - m * price c /\
  (cost c m - m * price c <= cost c n - n * price c -> low c <= m <= high c).
Proof.
  move=> inside; apply: (valley (fun k => cost c k - k * price c)) => k posk.
  have [posn posw] := keys c inside; have st := thresholds_scaled c inside.
  have sk : is_scale scale (snd (k, capacity i c)) by exact: capacities_scaled.
  have upto : k <= high c <-> growth base scale (k, capacity i c) <= price c.
    by rewrite keys_upto_counts // (growth_order base scale large).
  have below : k <= low c <-> growth base scale (k, capacity i c) < price c.
    rewrite keys_below_counts // -not_true_iff_false (growth_order base scale large) //.
    by rewrite /price; lia.
  by move: upto below; rewrite /growth /= -/(cost c); lia.
Qed.

Lemma least_power_sum a b : valid i a -> within_thresholds i threshold a -> valid i b ->
  power_sum base scale i a <= power_sum base scale i b /\
  (power_sum base scale i b <= power_sum base scale i a -> within_thresholds i threshold b).
Proof.
  move=> va [_ loads least] vb.
  have ordered x p c d : valid i x -> In (p, c) x -> In d (subscribes i p) ->
      key_le (threshold c) (threshold d) = true <-> price c <= price d.
    move=> vx held sub; have in_c := holders_are_members i x wf vx p c held.
    have in_d : In d (members i) by exact: subscribers_are_members sub.
    have [posc _] := keys c in_c; have [posd _] := keys d in_d.
    by apply: growth_order => //; exact: thresholds_scaled.
  have between c (inside : In c (members i)) := least_between c (load a c) (load b c) inside
    (loads c inside) (load_nonneg a c) (load_nonneg b c).
  have [less equal] := duality i cost price a b wf va vb
    (fun p c d held sub => proj1 (ordered a p c d va held sub) (least p c d held sub))
    (fun c inside => proj1 (between c inside)).
  split=> // back; have [tight cheap] := equal back; constructor=> // [c inside|p c d held sub].
  - by apply: (proj2 (between c inside)); have := tight c inside; lia.
  - by apply/(ordered b p c d vb held sub); exact: cheap held sub.
Qed.

End Thresholds.

Theorem face_of_thresholds i threshold a : well_formed i -> valid i a ->
  within_thresholds i threshold a ->
  forall b, dec_min i b <-> valid i b /\ within_thresholds i threshold b.
Proof.
  move=> wf va within b; have keys := thresholds_are_keys i threshold a within.
  have [|scale [good scaled]] := scale_with i (map (fun c => snd (threshold c)) (members i)) wf.
    by move=> w /in_map_iff [c [<- /keys []]].
  have vector x y := load_vector_by_powers (Z.of_nat (length (members i)) + 2) scale i x y good
    (Z.lt_add_pos_r 2 _ eq_refl).
  have sums := least_power_sum i threshold scale wf keys good
    (fun c inside => scaled _ (in_map _ _ c inside)).
  split=> [[vb least]|[vb withinb]]; last first.
    by split=> // x vx; apply/vector; case: (sums b x vb withinb vx).
  by split=> //; apply: (proj2 (sums a b va within vb)); apply/vector/least.
Qed.

Theorem thresholds_are_dec_min i threshold a : well_formed i -> valid i a ->
  within_thresholds i threshold a -> dec_min i a.
Proof. by move=> wf va within; apply/(face_of_thresholds i threshold a). Qed.

(** With capacities alike, a level is a threshold: the next key above it. *)
Lemma levels_as_thresholds i level a : well_formed i -> capacities_alike i -> valid i a ->
  within_levels i level a <-> (forall c, In c (members i) -> 0 <= level c) /\
    within_thresholds i (fun c => (level c + 1, capacity i c)) a.
Proof.
  move=> wf alike va; have positive c := capacity_is_positive i wf c.
  have keys c : keys_below (capacity i c) (level c + 1, capacity i c) = level c /\
      keys_upto (capacity i c) (level c + 1, capacity i c) = level c + 1.
    rewrite /keys_below /keys_upto /= Z.ltb_irrefl Z.leb_refl; have := positive c.
    by split; Z.to_euclidean_division_equations; nia.
  have order p c d : In (p, c) a -> In d (subscribes i p) -> level c <= level d <->
      key_le (level c + 1, capacity i c) (level d + 1, capacity i d) = true.
    move=> /(assigned_to_subscribers i a va) [known subc] sub; have := positive d.
    by rewrite key_le_true /= (alike p c d known subc sub); nia.
  split=> [[counts loads lowest]|[counts [_ loads lowest]]]; split=> //; first split=> /= [c|c|].
  all: try by move=> p c d held sub; apply/(order p c d held sub)/(lowest p).
  - by move=> /counts; have := positive c; lia.
  - by case: (keys c) => -> ->; exact: loads.
  - by move=> c /loads; case: (keys c) => -> ->.
Qed.

Theorem face_of_levels i level a : well_formed i -> capacities_alike i -> valid i a ->
  within_levels i level a -> forall b, dec_min i b <-> valid i b /\ within_levels i level b.
Proof.
  move=> wf alike va /levels_as_thresholds [] // counts within b.
  rewrite (face_of_thresholds i _ a wf va within b).
  by have := levels_as_thresholds i level b wf alike; tauto.
Qed.

Theorem levels_are_dec_min i level a : well_formed i -> capacities_alike i -> valid i a ->
  within_levels i level a -> dec_min i a.
Proof. by move=> wf alike va within; apply/(face_of_levels i level a). Qed.
