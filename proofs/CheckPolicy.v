(** The executable judgment of policies: regions of their balances, whether an assignment is
    balanced within each topic, and what a bound on weighted moves and mismatches proves of a
    level. Thresholds, prices, stops and weights come from elsewhere; any of them may be
    wrong, and what is accepted here is true none the less.

    [per_topic_region_sound], [equal_region_sound], [open_region_sound]: every assignment that
    the balance allows is within the region. [check_per_topic_spec]: per-topic balance is
    decided. [topic_bound_sound], [zero_sound]: no bound of the terms [prices], [separate] and
    [zero] exceeds what any allowed assignment costs; [level_bound_sound]: nor does what they
    come to for a level, of those that are as good in the levels before; [is_stickiest_sound]:
    the same for moves, by a certificate. [peak_value_spec],
    [topic_peak_value_spec]: the values of peak lag, in all and topic by topic. This is
    [region_of] of verify/policy/feasible_region.py, [uneven_topic] of constraints.py,
    [priced_term_fails] and [level_bounds] of price_bounds.py, and [value_of] of
    objectives.py. *)

From Assignor Require Import Sums Keys Balance Region Prices EvenShares Levels PeakLag.
From Assignor Require Import TopicPeakLag Tables Differences Checker CheckBalance CheckRegion.
From Assignor Require Import CheckCertificate.

Section Policy.

Variable d : document.
Let i := instance_of d.

(** Regions with a pool per topic and all of its subscribers, and with a single pool. *)
Definition open_limits (sizes : Map.t Z) (t : topic) (c : member) : Z * Z := (0, get sizes t).

Definition even_limits (threshold : topic -> key) (t : topic) (c : member) : Z * Z :=
  (keys_below (capacity i c) (threshold t), keys_upto (capacity i c) (threshold t)).

Definition topic_region : (topic -> member -> Z * Z) -> region :=
  loose_region (topic_list d) Zpos (subscribers i).

Definition topic_rows (limits : topic -> member -> Z * Z) : Map.t pool_row :=
  rows_of i (topic_list d) Zpos (subscribers i) limits.

Definition equal_rows (ms : list member) (k : key) : Map.t pool_row :=
  rows_of i [1%positive] (fun _ => 1) (fun _ => ms) (even_limits (fun _ => k)).

Definition topic_sizes : Map.t Z :=
  tally (topic_of i) (fun _ => 1) (select (is_assignable i) (partitions i)).

(** The keys below a threshold are not too many for the units, those up to it not too few. *)
Definition is_share (k : key) (units : Z) (ms : list member) : bool :=
  (0 <? fst k) && (0 <? snd k) &&
  (total (fun c => keys_below (capacity i c) k) ms <=? units) &&
  (units <=? total (fun c => keys_upto (capacity i c) k) ms).

Definition check_even (threshold : topic -> key) : bool :=
  let sizes := topic_sizes in
  forallb (fun t => is_share (threshold t) (get sizes t) (subscribers i t)) (topic_list d).

Definition check_equal (ms : list member) (k : key) : bool :=
  distinct id ms &&
  forallb (fun t => match subscribers i t with
                    | [] => true
                    | l => match list_eq_dec Pos.eq_dec l ms with left _ => true | _ => false end
                    end) (used_topics d) &&
  is_share k (total (fun _ => 1) (select (is_assignable i) (partitions i))) ms.

Hypothesis known : check_document d = true.
Let wf := check_document_sound d known.

Lemma is_share_spec k units ms : is_share k units ms = true -> (0 < fst k /\ 0 < snd k) /\
  sum (fun c => keys_below (capacity i c) k) ms <= units <=
  sum (fun c => keys_upto (capacity i c) k) ms.
Proof. rewrite /is_share !andb_true_iff !Z.ltb_lt !Z.leb_le !total_sum; lia. Qed.

Lemma topic_sizes_spec t : get topic_sizes t =
  sum (fun p => if (topic_of i p =? t)%positive then 1 else 0) (assignable_partitions i).
Proof. by rewrite get_tally sum_select. Qed.

Lemma load_within limits a t c :
  load_in i (topic_region limits) a (Zpos t) c = load (pairs_of_topic i t a) c.
Proof.
  rewrite /load /pairs_of_topic sum_filter; apply: sum_eq => pair _.
  by change (pool_of_partition _ _ _ =? _) with (topic_of i (fst pair) =? t)%positive; by_terms.
Qed.

Theorem open_region_sound b : valid i b -> within i (topic_region (open_limits topic_sizes)) b.
Proof.
  move=> v; have pairs := assigned_to_subscribers i b v.
  split=> [p c /pairs [_ sub]|p c /pairs [_ sub]|k c /in_collect [t [<- there]] _] //.
    by apply/in_collect; exists (topic_of i p); split=> //; exact: topic_known sub.
  rewrite load_within /load /pairs_of_topic sum_filter /= topic_sizes_spec.
  rewrite -(sum_assigned i b (fun p => if (topic_of i p =? t)%positive then 1 else 0)) //.
  by split; [apply: sum_nonneg|apply: sum_le] => pair _; do 2 case: Pos.eqb.
Qed.

Theorem per_topic_region_sound threshold b : check_even threshold = true ->
  per_topic_balanced i b -> within i (topic_region (even_limits threshold)) b.
Proof.
  move=> /forallb_forall even [v least]; have [pools_b held_b _] := open_region_sound b v.
  split=> // k c /in_collect [t [<- there]] sub; rewrite load_within /=.
  have [[posn posw]] := is_share_spec _ _ _ (even t there); rewrite topic_sizes_spec => fits.
  apply: (even_share (of_topic i t) _ (subscribers i t)) => //.
  - exact: of_topic_well_formed.
  - exact: subscribers_once.
  - by move=> p e /pairs_of_topic_spec [_ <-].
  - move: fits; rewrite !sum_filter (sum_eq _ (fun p => if (topic_of i p =? t)%positive then
      if is_assignable i p then 1 else 0 else 0)) // => p _; by case: is_assignable; case: Pos.eqb.
Qed.

Theorem equal_region_sound ms k b : check_equal ms k = true -> dec_min i b ->
  within i (loose_region [1%positive] (fun _ => 1) (fun _ => ms) (even_limits (fun _ => k))) b.
Proof.
  move=> /andb_true_iff [/andb_true_iff [once /forallb_forall equal] /is_share_spec [[posn posw]]].
  rewrite total_sum sum_select => fits best.
  have pairs := assigned_to_subscribers i b (proj1 best).
  have alike p c : In (p, c) b -> forall e, In e (subscribes i p) <-> In e ms.
    move=> /pairs [there]; have := equal _ (in_unique (topic_of i) _ p there); rewrite /subscribes.
    by case: (subscribers i _) => // e l; case: list_eq_dec => // ->.
  split=> [p c _|p c held|k' c [<-|] // sub]; first by left.
    by apply/(alike p c held); case: (pairs p c held).
  rewrite (_ : load_in _ _ b 1 c = load b c); first by apply: sum_eq => pair _; rewrite andb_true_r.
  by apply: (even_share i b ms) => //; move/distinct_spec: once; rewrite map_id.
Qed.

(** What members hold of each topic, partitions or their lag, in one table. *)
Definition holder_key : topic -> member -> positive := paired (topic_count d).

Definition topic_table (f : partition -> Z) (a : assignment) : Map.t Z :=
  tally (fun pair => holder_key (topic_of i (fst pair)) (snd pair)) (fun pair => f (fst pair)) a.

Definition check_per_topic (threshold : topic -> key) (loads : Map.t Z) : bool :=
  forallb (fun t => forallb (fun c =>
      let n := get loads (holder_key t c) in let limits := even_limits threshold t c in
      (fst limits <=? n) && (n <=? snd limits)) (subscribers i t)) (topic_list d).

Lemma topic_table_spec f a t c : valid i a -> In t (topic_list d) ->
  get (topic_table f a) (holder_key t c) = held (pairs_of_topic i t a) f c.
Proof.
  have [_ [_ [_ small]]] := lists_known d known => v /small small_t.
  rewrite get_tally /held sum_filter; apply: sum_eq => -[p e].
  move=> /(assigned_to_subscribers i a v) [_ /(topic_known d _ _ known) /small]; cbn [fst snd].
  move: (topic_of i p) => u small_u.
  case: Pos.eqb_spec => [/(paired_once _ _ _ _ _ small_u small_t) [-> ->]|]; by_terms.
Qed.

Lemma held_by_others f a t c : valid i a -> ~ In c (subscribers i t) ->
  held (pairs_of_topic i t a) f c = 0.
Proof.
  move=> v out; rewrite /held sum_filter (sum_eq _ (fun _ => 0)) ?sum_zero // => -[p e].
  move=> /(assigned_to_subscribers i a v) [_ sub] /=; case: Pos.eqb_spec => [same|] //.
  by case: Pos.eqb_spec => [equal|] //; case: out; rewrite -same -equal.
Qed.

Theorem check_per_topic_spec threshold a : check_even threshold = true -> valid i a ->
  check_per_topic threshold (topic_table (fun _ => 1) a) = true <-> per_topic_balanced i a.
Proof.
  move=> even v; rewrite /check_per_topic forallb_forall; split=> [all|best t there]; last first.
    apply/forallb_forall => c sub; have [_ _ loads] := per_topic_region_sound threshold a even best.
    have := loads (Zpos t) c; rewrite load_within topic_table_spec // andb_true_iff !Z.leb_le.
    by apply=> //; apply/in_collect; exists t.
  split=> // t; pose key c := match in_dec Pos.eq_dec c (subscribers i t) with
                              | left _ => threshold t | _ => (1, capacity i c) end.
  have holds p c : In (p, c) (pairs_of_topic i t a) -> topic_of i p = t /\ In c (subscribes i p).
    by move=> /pairs_of_topic_spec [/(assigned_to_subscribers i a v) [_ sub] same].
  have fits c : (0 < fst (key c) /\ 0 < snd (key c)) /\ keys_below (capacity i c) (key c) <=
      load (pairs_of_topic i t a) c <= keys_upto (capacity i c) (key c).
    rewrite /key; case: in_dec => [sub|out].
      have there := topic_known d t c known sub; have /forallb_forall /(_ c sub) := all t there.
      rewrite topic_table_spec // andb_true_iff !Z.leb_le; split=> //.
      by move/forallb_forall: even => /(_ t there) /is_share_spec [].
    rewrite -[load _ c]/(held _ (fun _ => 1) c) held_by_others // /keys_below /keys_upto.
    cbn [fst snd]; rewrite Z.ltb_irrefl Z.leb_refl; have := capacity_is_positive i wf c.
    by Z.to_euclidean_division_equations; nia.
  apply: (thresholds_are_dec_min _ key (pairs_of_topic i t a) (of_topic_well_formed i t wf)).
    exact: pairs_of_topic_valid.
  split=> [c _|c _|p c e /holds [same sub] sub']; [by case: (fits c)|by case: (fits c)|].
  have mine u : In u (subscribes i p) -> key u = threshold t.
    by rewrite /subscribes same /key; case: in_dec.
  by rewrite !mine //; apply/key_le_true; lia.
Qed.

(** Bounds on weighted moves and mismatches, of all that are within a region: the term [prices]
    in that of per-topic balance; [separate] in the open one, without prices, and with weights
    in which the first of all levels counts most. *)
Definition topic_bound (rows : Map.t pool_row) (price : Z -> member -> Z) (stop : Z -> Z)
    (x y : Z) : Z := fast_bound d (topic_list d) Zpos rows price stop x y.

Theorem topic_bound_sound limits price stop x y b : valid i b -> within i (topic_region limits) b ->
  topic_bound (topic_rows limits) price stop x y <= x * moves i b + y * mismatches i b.
Proof.
  move=> v inside; apply: fast_bound_sound => // [|k _]; last exact: (subscribers_once i wf).
  by have [_ [_ []]] := lists_known d known.
Qed.

(** Moves that an assignment within a budget can have, and what a bound says of a level. *)
Definition candidates (budget : option Z) : list Z :=
  let most := match budget with Some most => Z.min most | None => id end (owned_fast i) in
  0 :: select (fun n => n <=? most) (collect Zpos (partitions i)).

Definition is_level_bound (moved : list Z) (x y bound : Z) (before : list level) (w : level)
    (counts : Z * Z) (n : Z) : bool :=
  let all := total (fun _ => 1) (partitions i) in
  (0 <=? y) && forallb (fun u => 0 <=? snd u) (w :: before) &&
  forallb (no_less x y bound all before counts w n) moved.

Theorem candidates_spec budget b : valid i b ->
  (forall most, budget = Some most -> moves i b <= most) -> In (moves i b) (candidates budget).
Proof.
  move=> v allowed; have [[low high] _] := counts_nonneg i b wf v.
  case: (Z.eq_dec (moves i b) 0) => [->|some]; [by left|right].
  apply/in_select; rewrite Z.leb_le /owned_fast total_sum -/(owned i); split; last first.
    by case: budget allowed => [most /(_ most eq_refl)|_]; rewrite /id; lia.
  apply/in_collect; exists (Z.to_pos (moves i b)); split; first by rewrite Z2Pos.id; lia.
  apply/(proj2 (proj1 (proj2 (lists_known d known)))); rewrite Z2Pos.id; first by lia.
  move: known; rewrite /check_document !andb_true_iff.
  move=> [[[[[[[_ [_ /Z.eqb_eq <-]] _] _] _] _] _] _]; rewrite total_sum.
  apply: Z.le_trans high _; apply: sum_le => p _; by case: has_owner.
Qed.

Theorem level_bound_sound moved x y bound before w counts n b : valid i b ->
  bound <= x * moves i b + y * mismatches i b -> In (moves i b) moved ->
  (forall u, In u before -> values counts u = values (moves i b, mismatches i b) u) ->
  is_level_bound moved x y bound before w counts n = true ->
  n <= values (moves i b, mismatches i b) w.
Proof.
  move=> v enough inside as_good; rewrite /is_level_bound total_sum => /andb_true_iff [].
  move=> /andb_true_iff [/Z.leb_le pos /forallb_forall weights] /forallb_forall all.
  apply: (no_less_sound x y bound _ before counts) (all _ inside) => // [u /weights /Z.leb_le|] //.
  by split; [case: (counts_nonneg i b wf v)|exact: mismatches_at_most].
Qed.

(** Stickiness, from the prices of a certificate: [kept_bound] of verify/certificate.py. *)
Theorem is_stickiest_sound threshold scale largest a price stop x y :
  let places := place_table d threshold scale largest in let lowest := lowest_table d places in
  let bound := certificate_bound d lowest (level_rows d threshold places lowest) price stop x y in
  valid i a -> check_balance d threshold scale largest places lowest (load_table a) a = true ->
  is_level_bound (candidates None) x y bound [] (1, 0) (0, 0) (moves i a) = true ->
  forall b, dec_min i b -> kept i b <= kept i a.
Proof.
  move=> places lowest bound va balanced least b best; have vb := proj1 best.
  have enough := certificate_bound_sound d _ _ _ known a price stop x y b va balanced best.
  have := level_bound_sound _ x y bound [] (1, 0) (0, 0) _ b vb enough
    (candidates_spec None b vb ltac:(by [])) (fun u none => match none with end) least.
  by rewrite /values; cbn [fst snd]; rewrite /moves; lia.
Qed.

Theorem zero_sound w b : valid i b -> 0 <= fst w -> 0 <= snd w ->
  0 <= values (moves i b, mismatches i b) w.
Proof. move=> v; have := counts_nonneg i b wf v; rewrite /values /=; nia. Qed.

(** The values of [peak-lag] and [topic-peak-lag], in units of 1 / scale, rounded up. *)
Definition peak_of (scale : Z) (lags : member -> Z) (ms : list member) : Z :=
  largest_of (fun c => - (- (lags c * scale) / capacity i c)) ms.

Definition peak_value (scale : Z) (lags : Map.t Z) : Z := peak_of scale (get lags) (members i).

Definition topic_peak (scale : Z) (lags : Map.t Z) (t : topic) : Z :=
  peak_of scale (fun c => get lags (holder_key t c)) (subscribers i t).

Definition topic_peak_value (scale : Z) (lags : Map.t Z) : Z :=
  total (topic_peak scale lags) (topic_list d).

Lemma peak_of_spec scale lags ms n : 0 <= n ->
  peak_of scale lags ms <= n <-> forall c, In c ms -> lags c * scale <= n * capacity i c.
Proof.
  rewrite /peak_of => nonneg; set f := fun c => _.
  have exact c : f c <= n <-> lags c * scale <= n * capacity i c.
    have := le_quotient (- n) (- (lags c * scale)) _ (capacity_is_positive i wf c).
    by rewrite /f; lia.
  have [above some] := largest_spec f ms; split=> [least c there|all].
    by apply/exact; have := above c there; lia.
  by case: some => [->|[c [there <-]]] //; exact/exact/all.
Qed.

Theorem peak_value_spec scale a n : 0 <= n ->
  peak_value scale (lag_table i a) <= n <-> peak_lag_at_most i a scale n.
Proof.
  move=> nonneg; rewrite /peak_value peak_of_spec //.
  by split=> all c /all; rewrite get_tally.
Qed.

Theorem topic_peak_value_spec scale a n : valid i a ->
  topic_peak_value scale (topic_table (lag i) a) <= n <-> topic_peak_lag_at_most i a scale n.
Proof.
  move=> v; pose peak := topic_peak scale (topic_table (lag i) a); have [_ [_ [once _]]] :=
    lists_known d known.
  have nonneg t : 0 <= peak t by exact: largest_nonneg.
  have spec t m : 0 <= m -> peak t <= m <->
      peak_lag_at_most (of_topic i t) (pairs_of_topic i t a) scale m.
    move=> pos; rewrite peak_of_spec //; split=> all c inside; last first.
      rewrite topic_table_spec //; first exact: topic_known inside.
      exact: all (subscribers_are_members i wf t c inside).
    rewrite -[lag_held _ _ c]/(held (pairs_of_topic i t a) (lag i) c).
    case: (in_dec Pos.eq_dec c (subscribers i t)) => [sub|out].
      by rewrite -topic_table_spec //; [exact: topic_known sub|exact: all].
    rewrite held_by_others //; apply: (Z.mul_nonneg_nonneg m (capacity i c)) => //.
    exact/Z.lt_le_incl/capacity_is_positive.
  rewrite /topic_peak_value total_sum; split=> [small|[most [above few]]]; last first.
    apply: Z.le_trans (few _ once); apply: sum_le => t _; have [pos at_most] := above t.
    exact/(spec t _ pos).
  exists peak; split=> [t|ts fresh]; first by split; [|apply/(spec t _ (nonneg t)); lia].
  apply: Z.le_trans small; rewrite (sum_by_name Pos.eqb id (topic_list d)) => // [|t _|].
  - exact: Pos.eqb_eq.
  - rewrite /peak /topic_peak; have := topic_known d t; rewrite -/i.
    by case: (subscribers i t) => [|c l] // there _; apply: (there c known); left.
  - apply: sum_le => t _; case: (in_dec Pos.eq_dec t ts) => [inside|out].
      rewrite (sum_named id _ peak t) ?map_id // => [y|]; last exact: Z.le_refl.
      by rewrite Pos.eqb_eq.
    rewrite (sum_eq _ (fun _ => 0)) ?sum_zero => [u inside|]; last exact: nonneg.
    by case: Pos.eqb_spec => // same; case: out; rewrite -same.
Qed.

(** Spreads of lag, or of load, in units of 1 / scale; of a scale that is one. *)
Definition spread_value (scale : Z) (entries : Map.t Z) (playing : list member) : option Z :=
  if (0 <? scale) && forallb (fun c => scale mod capacity i c =? 0) playing
  then Some (spread scale (get entries) (capacity i) playing) else None.

Theorem spread_value_spec scale entries amount n : (forall c, get entries c = amount c) ->
  spread_value scale entries (players i) = Some n -> 0 <= n /\ 0 < scale /\
  forall m, 0 <= m -> n <= m <-> spread_at_most i amount (capacity i) scale m.
Proof.
  rewrite /spread_value => same; case: Z.ltb_spec => // pos; case E: forallb => // -[<-].
  split; [exact: largest_nonneg|split=> //; apply: spread_spec => // c inside].
  apply: is_scale_of => //; first exact: (capacity_is_positive i wf).
  by move/forallb_forall: E => /(_ c inside) /Z.eqb_eq.
Qed.

Theorem spread_balanced_spec k scale a n : 0 <= k -> valid i a ->
  spread_value scale (load_table a) (players i) = Some n ->
  n <= k * scale <-> spread_balanced i k a.
Proof.
  move=> low v /(spread_value_spec _ _ (load a) _ (load_table_spec a)) [_ [pos ->]]; first by nia.
  have same x w : x * scale <= k * scale * w <-> x * 1 <= k * w.
    by rewrite Z.mul_1_r (Z.mul_le_mono_pos_r x (k * w) scale) //; lia.
  by split=> [all|[_ all]]; [split=> //|]; move=> c e in_c in_e; apply/same; exact: all.
Qed.

End Policy.
