(** The executable checks of the terms that bound peak lag: where [check_term] returns true,
    no valid assignment within a region has a peak lag below the bound, and where
    [check_topics] does, the topics' own peak lags do not come to less than the bound. Both
    are for any instance that is well formed, as [check_document] ensures, and any region of
    which [rows_of] has computed the rows.

    What a term proposes is not trusted: of [Average] the members, of [Packing] a weight for
    each lag and the share, of [Crowd] the gain, the prices and the cap of each class of
    members. Classes only say which members have the same of these, so that what a topic adds
    to [least_reduced] is summed up once for all of them.

    This is [term_fails] and [together] of verify/policy/terms.py, and [crowd_fails] of
    verify/policy/pigeonhole.py. *)

From Assignor Require Import Sums Region PeakLag Crowd TopicPeakLag.
From Assignor Require Import Tables Differences Checker CheckRegion.

Lemma collect_select {A B} (f : A -> B) test l : collect f (select test l) = map f (filter test l).
Proof. by rewrite collect_map select_filter map_rev rev_involutive. Qed.

Inductive term :=
| Zero
| Average (ms : list member) (ts : list topic)
| Packing (ts : list topic) (weight_of : Z -> Z) (share unit : Z) (* weight by lag *)
| Crowd (ts : list topic) (at_least : Z) (class : member -> positive)
    (gain cap : positive -> Z) (price : positive -> pool -> Z).

Section Terms.

Variables (i : instance) (ks : list pool) (pool_at : topic -> pool) (rows : Map.t pool_row).
Variables (least_counts : bool) (scale bound : Z).

Definition region_in : region :=
  Region ks pool_at (fun k => row_members (row rows k))
    (fun k c => if least_counts then fst (limit (row rows k) c) else 0)
    (fun k c => snd (limit (row rows k) c)).

Definition placed : list partition := collect id (select (is_assignable i) (partitions i)).

(** Those of a topic, and who may hold them. *)
Definition those_of (ps : list partition) (t : topic) : list partition :=
  select (fun p => (topic_of i p =? t)%positive) ps.

Definition holders (t : topic) : list member :=
  select (is_able (row rows (pool_at t))) (subscribers i t).

Definition check_average (ms : list member) (ts : list topic) : bool :=
  let chosen := set_of id ms in
  let counted := set_of id (select (fun t => forallb (fun c => is_in c chosen) (holders t)) ts) in
  (bound - 1) * Z.max 1 (total (capacity i) (those_in i chosen)) <?
  scale * total (fun p => if is_in (topic_of i p) counted then lag i p else 0) placed.

Definition check_packing (ts : list topic) (weight_of : Z -> Z) (share unit : Z) : bool :=
  let chosen := set_of id ts in
  let weight p := if is_in (topic_of i p) chosen then weight_of (lag i p) else 0 in
  let heavy := select (fun p => negb (weight p =? 0)) placed in
  let some := those_in i (set_of id (flatten holders (unique (topic_of i) heavy))) in
  forallb (fun p => 0 <=? weight p) (partitions i) &&
  forallb (fun c => unit * capacity i c <=? scale) some && (0 <=? share) && (0 <=? unit) &&
  ((share - 1) * total (fun _ => 1) some <? total weight placed) &&
  (bound <=? unit * lightest (collect (fun p => (weight p, lag i p)) heavy) share).

Definition check_crowd (ts : list topic) (at_least : Z) (class : member -> positive)
    (gain cap : positive -> Z) (price : positive -> pool -> Z) : bool :=
  let chosen := set_of id ts in
  let crowd p := is_in (topic_of i p) chosen && (at_least <=? lag i p) in
  let ps := placed in
  let all := flatten (fun t =>
      let mine := those_of ps t in
      let part j := let g := gain j in let u := price j (pool_at t) in
        total (fun p => Z.min 0 (lag i p - (if crowd p then g else 0) - u)) mine in
      let parts := tabulate part (unique class (holders t)) in
      collect (fun c => (c, t, get parts (class c))) (holders t)) (unique (topic_of i) ps) in
  let sums := tally (fun x => fst (fst x)) snd all in
  let some := those_in i (set_of (fun x => fst (fst x)) all) in
  let paid c := total (fun k => let u := price (class c) k in
                  Z.min (u * least region_in k c) (u * most region_in k c)) ks in
  forallb (fun c => let g := gain (class c) in (0 <=? g) && ((bound - 1) * capacity i c <?
    scale * (g * (cap (class c) + 1) + (get sums c + paid c)))) some &&
  (total (fun c => cap (class c)) some <? total (fun p => if crowd p then 1 else 0) ps).

Definition check_term (one : term) : bool :=
  (0 <? scale) &&
  match one with
  | Zero => bound <=? 0
  | Average ms ts => check_average ms ts
  | Packing ts weight_of share unit => check_packing ts weight_of share unit
  | Crowd ts at_least class gain cap price => check_crowd ts at_least class gain cap price
  end.

Hypotheses (wf : well_formed i) (pools_once : NoDup ks).
Hypothesis able_in : forall k c, In c (row_members (row rows k)) <-> is_able (row rows k) c = true.

Lemma may_hold_spec p c : may_hold i region_in p c ->
  In c (members i) /\ In c (holders (topic_of i p)) /\ assignable i p.
Proof.
  case=> elig sub; split; first exact: subscribers_are_members sub.
  by split; [apply/in_select; split=> //; apply/able_in|exact: subscribed_assignable sub].
Qed.

Lemma placed_spec : placed = assignable_partitions i.
Proof. by rewrite /placed collect_select map_id. Qed.

Lemma sum_any {A} (test : A -> bool) n l : n <= 0 ->
  sum (fun x => if test x then n else 0) l <= if existsb test l then n else 0.
Proof. by move=> low; elim: l => [|x l] //=; case: (test x); case: existsb => /=; lia. Qed.

Lemma check_term_bounds one : check_term one = true -> bounds_peak_lag i region_in scale bound.
Proof.
  move=> /andb_true_iff [/Z.ltb_lt positive].
  case: one => [/Z.leb_le|ms ts|ts weight_of share unit|ts at_least class gain cap price].
  - by move=> low a _ _ n nonneg _; lia.
  - rewrite /check_average Z.ltb_lt placed_spec !total_sum.
    have [once inside] := those_in_spec i (set_of id ms) wf; apply: average_bound => // p c _.
    rewrite is_in_set_of map_id => /in_select [_ /forallb_forall all] /may_hold_spec [? [able _]].
    by apply/in_select; split=> //; exact: all.
  - rewrite /check_packing collect_select placed_spec.
    set weight := fun p => if is_in _ _ then _ else _.
    set heavy := select _ _; set found := set_of _ (flatten _ _).
    have [once inside] := those_in_spec i found wf.
    rewrite !andb_true_iff !forallb_forall Z.ltb_lt !Z.leb_le !total_sum sum_of_ones.
    move=> [[[[[weights units] pshare] pu] large] small].
    apply: (packing_bound i region_in scale bound weight (those_in i found) share unit) => //.
    + by move=> p /weights /Z.leb_le.
    + move=> p c known heavy_p /may_hold_spec [there [able some]]; apply/in_select; split=> //.
      apply/is_in_set_of; rewrite map_id; apply/in_flatten; exists (topic_of i p); split=> //.
      apply: in_unique; rewrite in_select filter_In is_assignable_spec.
      by case: Z.eqb_spec.
    + by move=> c /units /Z.leb_le.
  - pose crowd p := is_in (topic_of i p) (set_of id ts) && (at_least <=? lag i p).
    rewrite /check_crowd -/crowd; set all := flatten _ _; set found := set_of _ all.
    have [once inside] := those_in_spec i found wf.
    rewrite andb_true_iff forallb_forall Z.ltb_lt !total_sum placed_spec => -[accepted few].
    pose is_entry c p (x : member * topic * Z) :=
      (fst (fst x) =? c)%positive && (topic_of i p =? snd (fst x))%positive.
    have entry p c : In p (partitions i) -> may_hold i region_in p c ->
        exists x, In x all /\ is_entry c p x = true.
      move=> known /may_hold_spec [_ [able some]]; eexists (c, topic_of i p, _); split; last first.
        by rewrite /is_entry /= !Pos.eqb_refl.
      apply/in_flatten; exists (topic_of i p); split; last by apply/in_collect; exists c.
      by apply: in_unique; rewrite placed_spec filter_In is_assignable_spec.
    apply: (crowd_bound i region_in crowd (fun c p => existsb (is_entry c p) all)
      (fun c => filter (fun k => is_able (row rows k) c) ks) (fun c => gain (class c))
      (fun c => price (class c)) wf _ (fun c => NoDup_filter _ pools_once) _ scale bound _ _
      positive once inside _ _ few) => [p c *|c k|p c known _ may|c /accepted].
    + by apply/existsb_exists; exact: entry.
    + by rewrite filter_In able_in.
    + have [x [there /andb_true_iff [/Pos.eqb_eq same _]]] := entry p c known may.
      apply/in_select; split; first by case: (may_hold_spec p c may).
      by apply/is_in_set_of; rewrite -same; exact: (in_map (fun x => fst (fst x))).
    + move=> /andb_true_iff [/Z.leb_le pg /Z.ltb_lt large]; split=> //.
      apply: Z.lt_le_trans large _; apply/Z.mul_le_mono_nonneg_l/Zplus_le_compat_l; first by lia.
      rewrite get_tally total_sum /least_reduced; apply: Z.add_le_mono; last first.
        rewrite sum_filter; apply/Z.eq_le_incl/sum_eq => k _ /=.
        by rewrite /is_able /limit; case: Map.find => //; case: least_counts => /=; lia.
      pose g p := Z.min 0 (reduced i region_in crowd (fun c => gain (class c))
        (fun c => price (class c)) c p); set l := assignable_partitions i.
      apply: (Z.le_trans _ (sum (fun x => sum (fun p => if is_entry c p x then g p else 0) l) all)).
        apply/Z.eq_le_incl/sum_eq => x /in_flatten [t [_ /in_collect [d [<- there]]]].
        rewrite /is_entry /=; case: Pos.eqb_spec => [same|_]; last by rewrite sum_zero.
        rewrite same in there *; rewrite get_tabulate; first exact: in_unique.
        rewrite total_sum sum_select sum_filter placed_spec.
        by apply: sum_eq => p _; case: Pos.eqb_spec => // <-.
      by rewrite sum_swap; apply: sum_le => p _; apply: sum_any; rewrite /g; lia.
Qed.

End Terms.

(** A peak lag that no valid assignment is below: the largest lag of a partition, or the mean
    over members who subscribe to anything. *)
Definition is_least_peak (d : document) (n : Z) : bool :=
  let i := instance_of d in
  (n <=? 0) || existsb (fun p => n <=? lag i p) (placed i) ||
  ((n - 1) * total (fun _ => 1) (subscribing i (topic_list d)) <? total (lag i) (placed i)).

Theorem is_least_peak_sound d n b : check_document d = true -> is_least_peak d n = true ->
  let i := instance_of d in valid i b ->
  forall m, 0 <= m -> (forall c, In c (members i) -> lag_held i b c <= m) -> n <= m.
Proof.
  move=> known + i v m nonneg all; have wf := check_document_sound d known.
  have lags := lag_is_count i wf; have at_member p c : In (p, c) b -> lag i p <= m.
    move=> held; apply: Z.le_trans (all c (holders_are_members i b wf v p c held)).
    apply: Z.le_trans (sum_element _ b (p, c) _ held); first by rewrite /= Pos.eqb_refl; lia.
    by move=> pair _; case: Pos.eqb => //; exact: lags.
  rewrite /is_least_peak -/i placed_spec !total_sum sum_of_ones !orb_true_iff Z.leb_le Z.ltb_lt.
  move=> [[low|/existsb_exists [p [there /Z.leb_le large]]]|mean]; first by lia.
    have [known_p /is_assignable_spec some] := proj1 (filter_In _ _ _) there.
    have /in_map_iff [[q c] [/= same held]] := assigned_if_assignable i b v p known_p some.
    by rewrite -same in large; have := at_member q c held; lia.
  have : sum (lag i) (assignable_partitions i) <= sum (fun _ => m) (subscribing i (topic_list d));
    last by rewrite sum_const; nia.
  have [once inside] := those_in_spec i (set_of id (flatten (subscribers i) (topic_list d))) wf.
  rewrite -(sum_assigned i b) // (sum_by_holder (subscribing i (topic_list d))) //.
  - move=> p c /(assigned_to_subscribers i b v) [_ sub] _; apply/subscribing_spec => //.
    by exists (topic_of i p); split=> //; exact: topic_known sub.
  - by apply: sum_le => c /inside; exact: all.
Qed.

(** The sum over topics that have a term, each of them once. *)
Definition only (i : instance) (ps : list partition) : instance :=
  Instance (members i) ps (topic_of i) (subscribers i) (owner i) (lag i) (is_far i) (capacity i).

Definition check_topics (i : instance) ks pool_at rows scale bound ts
    (term_at : topic -> term * Z) : bool :=
  let ps := placed i in
  let topics := unique (topic_of i) ps in
  let alone t := forallb (fun u => negb (pool_at u =? pool_at t) || (u =? t)%positive) topics in
  distinct id ts && (bound <=? total (fun t => snd (term_at t)) ts) &&
  forallb (fun t => existsb (Z.eqb (pool_at t)) ks &&
    check_term (only i (those_of i ps t)) [pool_at t] pool_at rows (alone t) scale
      (snd (term_at t)) (fst (term_at t))) ts.

Lemma only_valid i ps a : (forall p, In p ps <-> In p (partitions i) /\ assignable i p) ->
  valid i a -> valid (only i ps) a.
Proof.
  move=> same [once subs all]; split=> // [p c /subs [known sub]|p /same [known some] _].
    by split=> //; apply/same; split=> //; exact: subscribed_assignable sub.
  exact: all.
Qed.

Section Regions.

Variables (i : instance) (names : list positive) (pool_at : topic -> pool).
Variables (able : positive -> list member) (limits : positive -> member -> Z * Z).
Let ks := collect Zpos names.
Let rows := rows_of i names pool_at able limits.
Let loose := loose_region names pool_at able limits.
Hypotheses (wf : well_formed i) (names_once : NoDup names) (pools_named : forall t, 0 < pool_at t).
Hypothesis able_once : forall k, In k names -> NoDup (able k).

Let able_in := able_in_rows i names pool_at able limits.

Theorem check_term_sound scale bound one :
  check_term i ks pool_at rows true scale bound one = true -> bounds_peak_lag i loose scale bound.
Proof.
  have rwf : region_well_formed (region_of names pool_at rows) by exact: region_of_well_formed.
  move=> accepted a v w; have inside : within i (region_of names pool_at rows) a.
    exact: within_region_of.
  exact: (check_term_bounds _ _ _ _ _ _ _ wf (pools_once _ rwf) able_in _ accepted a v inside).
Qed.

Theorem check_topics_sound scale bound ts term_at a n :
  check_topics i ks pool_at rows scale bound ts term_at = true -> valid i a -> within i loose a ->
  topic_peak_lag_at_most i a scale n -> bound <= n.
Proof.
  rewrite /check_topics placed_spec; set ps := assignable_partitions i.
  pose alone t := forallb (fun u => negb (pool_at u =? pool_at t) || (u =? t)%positive)
    (unique (topic_of i) ps).
  rewrite !andb_true_iff forallb_forall Z.leb_le total_sum distinct_spec map_id.
  move=> [[once small] all] v w peaks; apply: (Z.le_trans _ _ _ small).
  have in_ps p : In p ps <-> In p (partitions i) /\ assignable i p.
    by rewrite filter_In is_assignable_spec.
  have [*] : within i (region_of names pool_at rows) a by exact: within_region_of.
  have inside : within (only i ps) (region_of names pool_at rows) a by [].
  apply: (topic_peak_lag_bound (only i ps) _ scale alone _ _ a n (only_valid _ _ _ in_ps v) inside)
    => // t /all /andb_true_iff [/existsb_exists [k [there /Z.eqb_eq pool]] accepted].
  split; [by rewrite -pool in there|split=> [/forallb_forall single p there_p same|]].
    have := single _ (in_unique _ _ p there_p); rewrite (proj2 (Z.eqb_eq _ _) same).
    by move/Pos.eqb_eq.
  move=> b vb [pools_b held_b loads_b]; have wf_t : well_formed (only i (those_of i ps t)).
    by have [*] := wf; split=> //=; apply/select_once/NoDup_filter.
  have one_pool : NoDup [pool_at t] by constructor; [|constructor].
  apply: (check_term_bounds _ _ _ _ _ _ _ wf_t one_pool able_in _ accepted b) => //.
  apply: (only_valid (of_topic (only i ps) t)) vb => p.
  by rewrite in_select /= filter_In Pos.eqb_eq in_ps; intuition.
Qed.

End Regions.
