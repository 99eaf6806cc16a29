(** A certificate of balance: a level per member or, with capacities, a threshold, which is
    any key. If every pair is on a member of least level among the partition's subscribers,
    and every load is level or level + 1 (with thresholds: at least the member's keys below
    its threshold, at most those not above it), then no valid assignment has a smaller sum
    of squares or a smaller load vector. Conversely, every assignment as balanced satisfies
    the same conditions: they describe the optimal face.

    This justifies [balance_fails] of verify/certificate.py; the argument is that of
    docs/method.md, "Step 2". *)

From Coq Require Import ZArith List Lia ssreflect.
From Assignor Require Import Definitions Sums Keys Lexicographic.
Import ListNotations.
Open Scope Z_scope.

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

(** The least price of a list of members. *)
Fixpoint cheapest (price : member -> Z) (l : list member) : Z :=
  match l with
  | [] => 0
  | [c] => price c
  | c :: l => Z.min (price c) (cheapest price l)
  end.

Lemma cheapest_le price l c : In c l -> cheapest price l <= price c.
Proof.
  elim: l => [|d [|e l] IH] // inside; first by case: inside => [->|[]] /=; lia.
  change (Z.min (price d) (cheapest price (e :: l)) <= price c).
  by case: inside => [->|/IH]; lia.
Qed.

Lemma cheapest_greatest price l n :
  l <> [] -> (forall c, In c l -> n <= price c) -> n <= cheapest price l.
Proof.
  elim: l => [|d [|e l] IH] // _ below; first by apply: below; left.
  change (n <= Z.min (price d) (cheapest price (e :: l))).
  have := below d (or_introl eq_refl).
  have := IH ltac:(discriminate) (fun c h => below c (or_intror h)); lia.
Qed.

Lemma sum_tight {A} (f g : A -> Z) l : (forall x, In x l -> f x <= g x) ->
  sum g l <= sum f l -> forall x, In x l -> f x = g x.
Proof.
  elim: l => [|x l IH] //= below total y.
  have first := below x (or_introl eq_refl).
  have rest := sum_le f g l (fun z h => below z (or_intror h)).
  case=> [<-|inside]; first by lia.
  by apply: IH => //; [move=> z h; apply: below; right|lia].
Qed.

(** Weak duality, and what equality means. A partition pays its member's price. *)
Section Duality.

Variables (i : instance) (cost : member -> Z -> Z) (price : member -> Z) (a b : assignment).
Hypotheses (wf : well_formed i) (va : valid i a) (vb : valid i b).

Let total (x : assignment) := sum (fun c => cost c (load x c)) (members i).

Hypothesis on_cheapest :
  forall p c d, In (p, c) a -> In d (subscribes i p) -> price c <= price d.
Hypothesis supports : forall c, In c (members i) ->
  (load b c - load a c) * price c <= cost c (load b c) - cost c (load a c).

Lemma duality : total a <= total b /\ (total b <= total a ->
  (forall c, In c (members i) ->
     cost c (load b c) - cost c (load a c) = (load b c - load a c) * price c) /\
  (forall p c d, In (p, c) b -> In d (subscribes i p) -> price c <= price d)).
Proof.
  pose best p := cheapest price (subscribes i p).
  have paid x : valid i x ->
      sum (fun pair => price (snd pair)) x = sum (fun c => load x c * price c) (members i).
    move=> vx; apply: sum_by_member; [exact: members_once|exact: holders_are_members].
  have above pair : In pair b -> best (fst pair) <= price (snd pair).
    case: pair => p c inside; apply: cheapest_le.
    exact: proj2 (assigned_to_subscribers i b vb p c inside).
  have at_best : sum (fun pair => price (snd pair)) a <= sum (fun pair => best (fst pair)) a.
    apply: sum_le => -[p c] inside /=; apply: cheapest_greatest => [empty|d];
      last exact: on_cheapest.
    by have [_] := assigned_to_subscribers i a va p c inside; rewrite empty.
  have same := sum_of_partitions i a b best va vb.
  have more := sum_le _ _ b above.
  have gain := sum_le _ _ (members i) supports.
  have apart : sum (fun c => (load b c - load a c) * price c) (members i) =
      sum (fun c => load b c * price c) (members i) - sum (fun c => load a c * price c) (members i).
    by rewrite -sum_sub; apply: sum_eq => c _; ring.
  rewrite sum_sub apart in gain; rewrite !paid // in more at_best.
  split=> [|le]; first by rewrite /total; lia.
  rewrite /total in le; split=> [c inside|p c d inside sub].
  - symmetry; apply: (sum_tight _ _ _ supports) => //.
    by rewrite sum_sub apart; lia.
  - have /= <- : best (fst (p, c)) = price (snd (p, c)).
      by apply: (sum_tight _ _ _ above) => //; rewrite paid //; lia.
    exact: cheapest_le.
Qed.

End Duality.

Theorem levels_are_least_squares i level a : well_formed i -> valid i a ->
  within_levels i level a -> forall b, valid i b -> squares i a <= squares i b.
Proof.
  move=> wf va [_ loads lowest] b vb.
  apply: (proj1 (duality i (fun _ n => n * n) (fun c => 2 * level c + 1) a b wf va vb _ _)).
  - by move=> p c d inside sub; have := lowest p c d inside sub; lia.
  - move=> c /loads at_level.
    have [->|->] : load a c = level c \/ load a c = level c + 1 by lia.
    + case: (Z.le_gt_cases (load b c) (level c)); nia.
    + case: (Z.le_gt_cases (load b c) (level c)); nia.
Qed.

(** A price between the costs of what is taken and what is not supports a convex cost. *)
Section Supports.

Variables (f : Z -> Z) (u low high : Z).

Lemma telescope (g : Z -> Z) v n m : n <= m ->
  (forall k, n < k -> k <= m -> v <= g k - g (k - 1)) -> (m - n) * v <= g m - g n.
Proof.
  move=> le; suff far d : 0 <= d -> (forall k, n < k -> k <= n + d -> v <= g k - g (k - 1)) ->
      d * v <= g (n + d) - g n.
    by move=> steps; have := far (m - n); rewrite Zplus_minus; apply; [lia|].
  move: d; apply: natlike_ind => [|d nonneg IH] steps; first by rewrite Z.add_0_r; lia.
  have := IH (fun k lo hi => steps k lo ltac:(lia)).
  have := steps (n + Z.succ d) ltac:(lia) ltac:(lia).
  have -> : n + Z.succ d - 1 = n + d by lia.
  lia.
Qed.

Lemma supported n m :
  (forall k, 0 < k -> k <= high -> f k - f (k - 1) <= u) ->
  (forall k, 0 < k -> low < k -> u <= f k - f (k - 1)) ->
  low <= n <= high -> 0 <= n -> 0 <= m -> (m - n) * u <= f m - f n.
Proof.
  move=> taken left within posn posm; case: (Z.le_ge_cases n m) => le.
  - by apply: telescope => // k lo hi; apply: left; lia.
  - have := telescope (fun k => - f k) (- u) m n le.
    suff steps : forall k, m < k -> k <= n -> - u <= - f k - - f (k - 1).
      by move/(_ steps); lia.
    by move=> k lo hi; have := taken k; lia.
Qed.

Lemma strictly_supported n m :
  (forall k, 0 < k -> k <= high -> f k - f (k - 1) <= u) ->
  (forall k, 0 < k -> low < k -> u <= f k - f (k - 1)) ->
  (forall k, 0 < k -> k <= low -> f k - f (k - 1) < u) ->
  (forall k, 0 < k -> high < k -> u < f k - f (k - 1)) ->
  low <= n <= high -> 0 <= n -> 0 <= m -> f m - f n = (m - n) * u -> low <= m <= high.
Proof.
  move=> taken left below beyond within posn posm equal.
  case: (Z.lt_ge_cases m low) => lo.
    have := supported n (m + 1) taken left within posn ltac:(lia).
    have := below (m + 1); rewrite Z.add_simpl_r; lia.
  case: (Z.lt_ge_cases high m) => hi; last by lia.
  have := supported n (m - 1) taken left within posn ltac:(lia).
  have := beyond m; lia.
Qed.

End Supports.

Section Thresholds.

Variables (i : instance) (threshold : member -> key).
Hypothesis wf : well_formed i.
Hypothesis keys :
  forall c, In c (members i) -> 0 < fst (threshold c) /\ 0 < snd (threshold c).

Let scale := product
  (map (capacity i) (members i) ++ map (fun c => snd (threshold c)) (members i)).
Let base := Z.of_nat (length (members i)) + 2.
Let price c := growth base scale (threshold c).
Let low c := keys_below (capacity i c) (threshold c).
Let high c := keys_upto (capacity i c) (threshold c).

Lemma scale_of w : In w (map (capacity i) (members i)) \/
  In w (map (fun c => snd (threshold c)) (members i)) -> is_scale scale w.
Proof.
  move=> inside; apply: product_is_scale; last by apply/in_app_iff.
  move=> x /in_app_iff [] /in_map_iff [c [<- known]]; first exact: capacity_is_positive.
  exact: proj2 (keys c known).
Qed.

Lemma scale_of_capacity : scales scale i.
Proof. by move=> c inside; apply: scale_of; left; exact: in_map. Qed.

Lemma scale_of_threshold c : In c (members i) -> is_scale scale (snd (threshold c)).
Proof. move=> inside; apply: scale_of; right; exact: (in_map (fun c => snd (threshold c))). Qed.

Lemma growth_supports c k : In c (members i) -> 0 < k ->
  let step := power base scale (capacity i c) k - power base scale (capacity i c) (k - 1) in
  (k <= high c -> step <= price c) /\ (low c < k -> price c <= step) /\
  (k <= low c -> step < price c) /\ (high c < k -> price c < step).
Proof.
  move=> inside posk; have [posn posw] := keys c inside.
  have large : 2 <= base by rewrite /base; lia.
  have sk : is_scale scale (snd (k, capacity i c)) by exact: scale_of_capacity.
  have st := scale_of_threshold c inside.
  have upto := keys_upto_counts k (capacity i c) (threshold c) posw.
  have below := keys_below_counts k (capacity i c) (threshold c) posw.
  rewrite -/(growth base scale (k, capacity i c)) /=.
  split=> [le|]; first by apply: growth_le => //; apply/upto.
  split=> [lt|].
    apply: growth_le => //; case E: (key_le _ _) => //; move/below: E; rewrite -/(low c); lia.
  split=> [le|lt]; first by apply: growth_lt => //; apply/below.
  apply: growth_lt => //; case E: (key_le _ _) => //; move/upto: E; rewrite -/(high c); lia.
Qed.

Lemma least_power_sum a b : valid i a -> within_thresholds i threshold a -> valid i b ->
  power_sum base scale i a <= power_sum base scale i b /\
  (power_sum base scale i b <= power_sum base scale i a -> within_thresholds i threshold b).
Proof.
  move=> va [_ loads least] vb.
  have member_of p c x : valid i x -> In (p, c) x -> In c (members i).
    by move=> vx; exact: holders_are_members.
  have subscriber_of p d : In d (subscribes i p) -> In d (members i).
    exact: subscribers_are_members.
  have large : 2 <= base by rewrite /base; lia.
  have paying p c d : In (p, c) a -> In d (subscribes i p) -> price c <= price d.
    move=> inside sub; have known := member_of p c a va inside.
    have [posc _] := keys c known; have [posd _] := keys d (subscriber_of p d sub).
    apply: growth_le => //; [exact: scale_of_threshold| |exact: (least p)].
    by apply: scale_of_threshold; exact: (subscriber_of p).
  have supporting c : In c (members i) -> (load b c - load a c) * price c <=
      power base scale (capacity i c) (load b c) - power base scale (capacity i c) (load a c).
    move=> inside; apply: (supported _ _ (low c) (high c));
      [| |exact: loads|exact: load_nonneg|exact: load_nonneg] => k posk;
      by have [? [? _]] := growth_supports c k inside posk.
  have [less equal] := duality i (fun c => power base scale (capacity i c)) price a b
    wf va vb paying supporting.
  split=> // back; have [tight cheap] := equal back; constructor=> //.
  - move=> c inside; apply: (strictly_supported _ (price c) _ _ (load a c));
      try exact: load_nonneg; try exact: tight; try exact: loads;
      by move=> k posk; case: (growth_supports c k inside posk) => ? [? []].
  - move=> p c d inside sub; have known := member_of p c b vb inside.
    have [posc _] := keys c known; have [posd _] := keys d (subscriber_of p d sub).
    case E: (key_le _ _) => //.
    have := growth_lt base scale large (threshold d) (threshold c)
      (scale_of_threshold d (subscriber_of p d sub)) (scale_of_threshold c known) posd posc E.
    by have := cheap p c d inside sub; rewrite /price; lia.
Qed.

End Thresholds.

Theorem thresholds_are_dec_min i threshold a : well_formed i -> valid i a ->
  within_thresholds i threshold a -> dec_min i a.
Proof.
  move=> wf va within; have keys := thresholds_are_keys i threshold a within; split=> // b vb.
  apply/load_vector_by_powers; [exact: scale_of_capacity wf keys| |].
  - by apply: (Z.lt_add_pos_r 2).
  - exact: proj1 (least_power_sum i threshold wf keys a b va within vb).
Qed.

Theorem face_of_thresholds i threshold a : well_formed i -> valid i a ->
  within_thresholds i threshold a ->
  forall b, dec_min i b <-> valid i b /\ within_thresholds i threshold b.
Proof.
  move=> wf va within b; have keys := thresholds_are_keys i threshold a within.
  split=> [[vb least]|[vb withinb]]; last exact: thresholds_are_dec_min wf vb withinb.
  split=> //; apply: (proj2 (least_power_sum i threshold wf keys a b va within vb)).
  apply/load_vector_by_powers; [exact: scale_of_capacity wf keys| |exact: least].
  by apply: (Z.lt_add_pos_r 2).
Qed.

(** With capacities alike, a level is a threshold: the next key above it. *)
Lemma levels_as_thresholds i level a : well_formed i -> capacities_alike i -> valid i a ->
  within_levels i level a <->
  (forall c, In c (members i) -> 0 <= level c) /\
  within_thresholds i (fun c => (level c + 1, capacity i c)) a.
Proof.
  move=> wf alike va.
  have next c : keys_below (capacity i c) (level c + 1, capacity i c) = level c /\
      keys_upto (capacity i c) (level c + 1, capacity i c) = level c + 1.
    have positive := capacity_is_positive i wf c.
    rewrite /keys_below /keys_upto /= Z.ltb_irrefl Z.leb_refl; split.
      by symmetry; apply: (Z.div_unique_pos _ _ _ (capacity i c - 1)); [lia|ring].
    by apply: Z.div_mul; lia.
  have order p c d : In (p, c) a -> In d (subscribes i p) ->
      key_le (level c + 1, capacity i c) (level d + 1, capacity i d) = true <->
      level c <= level d.
    move=> inside sub; have [known subc] := assigned_to_subscribers i a va p c inside.
    have positive := capacity_is_positive i wf d.
    rewrite key_le_true /= (alike p c d known subc sub); nia.
  split=> [[counts loads lowest]|[counts [_ loads lowest]]].
  - split=> //; constructor=> /=.
    + by move=> c inside; have := counts c inside; have := capacity_is_positive i wf c; lia.
    + by move=> c inside; have [-> ->] := next c; exact: loads.
    + by move=> p c d inside sub; apply/(order p c d inside sub); exact: (lowest p).
  - constructor=> //.
    + by move=> c inside; have := loads c inside; have [-> ->] := next c.
    + by move=> p c d inside sub; apply/(order p c d inside sub); exact: (lowest p).
Qed.

Theorem levels_are_dec_min i level a : well_formed i -> capacities_alike i -> valid i a ->
  within_levels i level a -> dec_min i a.
Proof.
  move=> wf alike va /levels_as_thresholds [] // _; exact: thresholds_are_dec_min.
Qed.

Theorem face_of_levels i level a : well_formed i -> capacities_alike i -> valid i a ->
  within_levels i level a -> forall b, dec_min i b <-> valid i b /\ within_levels i level b.
Proof.
  move=> wf alike va /levels_as_thresholds [] // counts within b.
  rewrite (face_of_thresholds i _ a wf va within b); split=> -[vb conditions]; split=> //.
  - by apply/levels_as_thresholds.
  - by case/levels_as_thresholds: conditions.
Qed.
