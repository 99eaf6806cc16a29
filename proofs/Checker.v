(** The executable judge: functions over lists and tables, each with the theorem that says
    what it means that the function returns true. [check_document]: what a reader has to
    ensure. [check_valid]: the assignment is valid, no more and no less. [figures_of]: the
    figures are those of the definitions. Python's judge has the same in verify/rules.py and
    verify/figures.py. *)

From Assignor Require Import Sums Region Prices Tables Differences.

(** What the reader of a rebalance/1 document fills in: names are numbered from 1, in the
    lists here; lookups are arrays. What is asked beyond the lists has a default, so that the
    instance does not depend on what an array holds there. *)
Record document := Document {
  member_list : list member;
  partition_list : list partition;
  topic_list : list topic;
  topic_at : partition -> topic;
  subscribers_at : topic -> list member;
  owner_at : partition -> option member;
  lag_at : partition -> Z;
  racks_at : partition -> positive; (* the set of racks of its replicas *)
  is_far_from : positive -> member -> bool; (* of such a set *)
  capacity_at : member -> Z;
  member_count : Z;
  partition_count : Z;
  topic_count : Z
}.

Definition instance_of (d : document) : instance :=
  Instance (member_list d) (partition_list d) (topic_at d)
    (fun t => if Zpos t <=? topic_count d then subscribers_at d t else [])
    (fun p => if Zpos p <=? partition_count d then owner_at d p else None)
    (fun p => if Zpos p <=? partition_count d then lag_at d p else 0)
    (fun p c => is_far_from d (racks_at d p) c)
    (fun c => if Zpos c <=? member_count d then capacity_at d c else 1).

(** A list has 1, 2, ... up to a count, in some order. *)
Definition is_numbered (l : list positive) (count : Z) : bool :=
  distinct id l && forallb (fun x => Zpos x <=? count) l && (total (fun _ => 1) l =? count).

(** Subscribers of each topic, as sets. *)
Definition subscriber_sets (of_topic : topic -> list member) (topics : list topic) :
    Map.t (Map.t unit) := tabulate (fun t => set_of id (of_topic t)) topics.

Definition is_subscriber (sets : Map.t (Map.t unit)) (t : topic) (c : member) : bool :=
  match Map.find t sets with Some set => is_in c set | None => false end.

Definition check_document (d : document) : bool :=
  let i := instance_of d in
  let sets := subscriber_sets (subscribers i) (topic_list d) in
  is_numbered (member_list d) (member_count d) &&
  is_numbered (partition_list d) (partition_count d) &&
  is_numbered (topic_list d) (topic_count d) &&
  forallb (fun t => distinct id (subscribers i t)) (topic_list d) &&
  forallb (fun t => forallb (fun c => Zpos c <=? member_count d) (subscribers i t))
    (topic_list d) &&
  forallb (fun p => match owner i p with
                    | Some c => is_subscriber sets (topic_of i p) c
                    | None => true
                    end) (partition_list d) &&
  forallb (fun p => 0 <=? lag i p) (partition_list d) &&
  forallb (fun c => 0 <? capacity i c) (member_list d).

Lemma is_numbered_spec l count : is_numbered l count = true ->
  NoDup l /\ forall x, In x l <-> Zpos x <= count.
Proof.
  rewrite /is_numbered !andb_true_iff forallb_forall Z.eqb_eq total_sum sum_of_ones.
  move=> [[/distinct_spec once small] size]; rewrite map_id in once; split=> // x.
  have among y : Zpos y <= count <-> In y (map Pos.of_nat (seq 1 (length l))).
    rewrite in_map_iff; split=> [le|[n [<- /in_seq]]]; last by lia.
    by exists (Pos.to_nat y); rewrite in_seq; split; [exact: Pos2Nat.id|lia].
  split=> [/small /Z.leb_le //|/among]; apply: NoDup_length_incl once _ _ x => [|y /small].
    by rewrite map_length seq_length.
  by move=> /Z.leb_le /among.
Qed.

Lemma is_subscriber_in f topics t c : is_subscriber (subscriber_sets f topics) t c = true <->
  In t topics /\ In c (f t).
Proof.
  rewrite /is_subscriber.
  have [into out] := find_tabulate (fun t => set_of id (f t)) topics t.
  split=> [|[/into -> sub]]; last by apply/is_in_set_of; rewrite map_id.
  by case same: Map.find => [set|] //; have [there ->] := out _ same; rewrite is_in_set_of map_id.
Qed.

Lemma lists_known d : check_document d = true ->
  (NoDup (member_list d) /\ forall c, In c (member_list d) <-> Zpos c <= member_count d) /\
  (NoDup (partition_list d) /\ forall p, In p (partition_list d) <-> Zpos p <= partition_count d) /\
  (NoDup (topic_list d) /\ forall t, In t (topic_list d) <-> Zpos t <= topic_count d).
Proof.
  rewrite /check_document 7!andb_true_iff => -[[[[[[[ms ps] ts] _] _] _] _] _].
  by split; [|split]; exact: is_numbered_spec.
Qed.

Theorem check_document_sound d : check_document d = true -> well_formed (instance_of d).
Proof.
  move=> known; have [[ms_once ms_all] [[ps_once ps_all] [_ ts_all]]] := lists_known d known.
  move: known; rewrite /check_document !andb_true_iff !forallb_forall.
  move=> [[[[[[[_ _] _] once] inside] owners] lags] capacities].
  split=> //= [t|t|p c|p|c]; (case small: (_ <=? _);
    [move/Z.leb_le: (small) | try by [constructor | move=> ?]]).
  - by move=> /ts_all /once; rewrite /= small => /distinct_spec; rewrite map_id.
  - move=> /ts_all /inside; rewrite /= small forallb_forall => all c /all /Z.leb_le /ms_all //.
  - move=> /ps_all /owners; rewrite /= small => known own.
    by move: known; rewrite own => /is_subscriber_in [].
  - by move=> /ps_all /lags; rewrite /= small => /Z.leb_le.
  - by move=> /ms_all /capacities; rewrite /= small => /Z.ltb_lt.
Qed.

Lemma topic_small d p : let i := instance_of d in assignable i p ->
  Zpos (topic_of i p) <= topic_count d.
Proof. by rewrite /assignable /subscribes /=; case: Z.leb_spec. Qed.

(** Validity. As nothing is assigned twice, and only to subscribers, it suffices to compare
    the number of pairs with the number of partitions that have a subscriber. *)
Definition sets_of (d : document) : Map.t (Map.t unit) :=
  subscriber_sets (subscribers (instance_of d)) (topic_list d).

Definition check_valid (d : document) (sets : Map.t (Map.t unit)) (a : assignment) : bool :=
  let i := instance_of d in
  distinct fst a &&
  forallb (fun pair => (Zpos (fst pair) <=? partition_count d) &&
                       is_subscriber sets (topic_of i (fst pair)) (snd pair)) a &&
  (total (fun _ => 1) a =?
   total (fun p => if is_assignable i p then 1 else 0) (partition_list d)).

Lemma topic_known d t c : check_document d = true ->
  In c (subscribers (instance_of d) t) -> In t (topic_list d).
Proof. by case/lists_known => _ [_ [_ ts_all]]; rewrite ts_all /=; case: Z.leb_spec. Qed.

Theorem check_valid_spec d a : check_document d = true ->
  check_valid d (sets_of d) a = true <-> valid (instance_of d) a.
Proof.
  move=> known; have wf := check_document_sound d known; set i := instance_of d in wf *.
  have pairs p c : (Zpos p <=? partition_count d) &&
      is_subscriber (sets_of d) (topic_of i p) c = true <->
      In p (partitions i) /\ In c (subscribes i p).
    have [_ [[_ ps_all] _]] := lists_known d known; have := topic_known d (topic_of i p) c known.
    by rewrite andb_true_iff Z.leb_le -ps_all is_subscriber_in; intuition.
  rewrite /check_valid -/i !andb_true_iff distinct_spec forallb_forall Z.eqb_eq !total_sum.
  rewrite -sum_filter !sum_of_ones -(map_length fst) Nat2Z.inj_iff.
  split=> [[[a_once subs] same]|v].
    split=> // [p c /subs /pairs|p inside sub] //.
    apply: (NoDup_length_incl a_once (Nat.eq_le_incl _ _ (eq_sym same))) => [q|].
      move=> /in_map_iff [[r c] [<- /subs /pairs [known_r /subscribed_assignable sub_r]]].
      by rewrite filter_In is_assignable_spec.
    by rewrite filter_In is_assignable_spec.
  have [a_once subs _] := v; split; first by split=> // -[p c] /subs /pairs.
  exact/Permutation_length/partitions_assigned.
Qed.

(** Figures. Loads and lags are tables of one pass each. *)
Record figures := Figures {
  figure_loads : list Z; (* in some order *)
  figure_kept : Z;
  figure_moves : Z;
  figure_kip54_score : option Z; (* if the order is one *)
  figure_peak_lag : Z; (* of a member, without capacities *)
  figure_lag_spread : Z; (* of members in play, without capacities *)
  figure_mismatches : Z;
  figure_kip54_balanced : bool
}.

Definition load_table (a : assignment) : Map.t Z := tally snd (fun _ => 1) a.

Definition lag_table (i : instance) (a : assignment) : Map.t Z :=
  tally snd (fun pair => lag i (fst pair)) a.

Lemma load_table_spec a c : get (load_table a) c = load a c.
Proof. exact: get_tally. Qed.

Definition owned_fast (i : instance) : Z :=
  total (fun p => if has_owner i p then 1 else 0) (partitions i).

(** The least entry of the subscribers of each topic. *)
Definition lowest_table (d : document) (entries : Map.t Z) : Map.t Z :=
  tabulate (fun t => least_of (get entries) (subscribers (instance_of d) t)) (topic_list d).

Definition check_kip54 (d : document) (loads : Map.t Z) (a : assignment) : bool :=
  let i := instance_of d in
  let lowest := lowest_table d loads in
  forallb (fun pair => get loads (snd pair) <=? get lowest (topic_of i (fst pair)) + 1) a.

(** All members are listed in the order of their loads, smallest first; that is tested. *)
Definition kip54_score_of (d : document) (loads : Map.t Z) (order : list member) : option Z :=
  if is_numbered order (member_count d) then score_of (get loads) 0 0 0 0 order else None.

Definition figures_of (d : document) (loads : Map.t Z) (playing order : list member)
    (a : assignment) : figures :=
  let i := instance_of d in
  let lags := lag_table i a in
  let kept := total (fun pair => if is_owner i (fst pair) (snd pair) then 1 else 0) a in
  Figures (collect (get loads) (members i)) kept (owned_fast i - kept)
    (kip54_score_of d loads order) (largest_of (get lags) (members i))
    (spread 1 (get lags) (fun _ => 1) playing)
    (total (fun pair => if is_far i (fst pair) (snd pair) then 1 else 0) a)
    (check_kip54 d loads a).

Lemma least_ext {A} (f g : A -> Z) l : (forall x, f x = g x) -> least_of f l = least_of g l.
Proof.
  by move=> same; case: l => //= x l; rewrite /largest_of same; elim: l 0 => //= *; rewrite same.
Qed.

Lemma lowest_spec d entries p c : let i := instance_of d in let low := lowest_table d entries in
  check_document d = true -> In c (subscribes i p) -> get low (topic_of i p) <= get entries c /\
  exists e, In e (subscribes i p) /\ get entries e = get low (topic_of i p).
Proof.
  move=> i low known sub; rewrite /low get_tabulate; first exact: topic_known sub.
  by split; [exact: least_le|exact: least_attained (subscribed_assignable i p c sub)].
Qed.

Lemma check_kip54_spec d a : check_document d = true -> valid (instance_of d) a ->
  check_kip54 d (load_table a) a = true <-> kip54_balanced (instance_of d) a.
Proof.
  move=> known v; set i := instance_of d in v *.
  have lowest p c := lowest_spec d (load_table a) p c known.
  rewrite /check_kip54 -/i forallb_forall; split=> [all|[_ all] [p c] inside].
    split=> // p c e inside sub; have [least _] := lowest p e sub.
    have /Z.leb_le := all (p, c) inside; cbn [fst snd].
    by rewrite -/i !load_table_spec in least *; lia.
  have [_ sub] := assigned_to_subscribers i a v p c inside.
  have [_ [e [sub_e <-]]] := lowest p c sub.
  by rewrite !load_table_spec; apply/Z.leb_le; exact: all sub_e.
Qed.

Lemma kip54_score_of_spec d a order n : check_document d = true ->
  kip54_score_of d (load_table a) order = Some n -> n = kip54_score (instance_of d) a.
Proof.
  move=> /lists_known [[once all] _]; rewrite /kip54_score_of.
  case E: is_numbered => // /(score_of_spec (get (load_table a)) order [] 0) -> //=.
  have [once_o all_o] := is_numbered_spec _ _ E.
  have same : Permutation order (members (instance_of d)).
    by apply: NoDup_Permutation => // c; rewrite all_o all.
  rewrite /excess (sum_permutation _ _ _ same); apply: sum_eq => c _.
  by rewrite (sum_permutation _ _ _ same); apply: sum_eq => e _; rewrite !load_table_spec.
Qed.

Theorem figures_of_spec d order a : check_document d = true -> valid (instance_of d) a ->
  let i := instance_of d in let found := figures_of d (load_table a) (players i) order a in
  figure_loads found = rev (map (load a) (members i)) /\
  figure_kept found = kept i a /\
  figure_moves found = moves i a /\
  (forall n, figure_kip54_score found = Some n -> n = kip54_score i a) /\
  (forall n, 0 <= n ->
   figure_lag_spread found <= n <-> spread_at_most i (lag_held i a) (fun _ => 1) 1 n) /\
  (forall c, In c (members i) -> lag_held i a c <= figure_peak_lag found) /\
  (figure_peak_lag found = 0 \/
   exists c, In c (members i) /\ lag_held i a c = figure_peak_lag found) /\
  figure_mismatches found = mismatches i a /\
  (figure_kip54_balanced found = true <-> kip54_balanced i a).
Proof.
  move=> known v i found; rewrite /found /figures_of /owned_fast /= collect_map !total_sum.
  have [peak some] := largest_spec (get (lag_table (instance_of d) a)) (member_list d).
  split; first by congr rev; apply: map_ext => c; exact: load_table_spec.
  split=> //; split=> //; split; first by move=> n; exact: kip54_score_of_spec.
  split; first by apply: spread_spec => // *; [exact: check_document_sound|exact: get_tally].
  split; first by move=> c /peak; rewrite get_tally.
  split; last by split=> //; exact: check_kip54_spec.
  by case: some => [->|[c [inside <-]]]; [left | right; exists c; rewrite get_tally].
Qed.
