(** The words that the theorems use. Nothing is proved here: whoever trusts this page, and
    Coq, can trust every theorem in this folder. [docs/words.md] has the same words in prose.

    A group is an [instance]; an answer to it is an [assignment], a list of pairs as a
    document lists them: this partition is assigned to this member. Numbers are integers,
    and fractions of load and capacity are exact. *)

From Coq Require Import ZArith QArith List.
Import ListNotations.
Open Scope Z_scope.

(** Members, topics and partitions are only names; the reader of documents numbers them. *)
Definition member := positive.
Definition topic := positive.
Definition partition := positive.

Record instance := Instance {
  members : list member;
  partitions : list partition;
  topic_of : partition -> topic;
  subscribers : topic -> list member;
  owner : partition -> option member; (* whose claim is accepted; a subscriber *)
  lag : partition -> Z;
  is_far : partition -> member -> bool; (* the member's rack has no replica *)
  capacity : member -> Z
}.

(** What a reader of documents ensures. *)
Record well_formed (i : instance) : Prop := WellFormed {
  members_once : NoDup (members i);
  partitions_once : NoDup (partitions i);
  subscribers_once : forall t, NoDup (subscribers i t);
  subscribers_are_members : forall t, incl (subscribers i t) (members i);
  owners_subscribe :
    forall p c, owner i p = Some c -> In c (subscribers i (topic_of i p));
  lag_is_count : forall p, 0 <= lag i p;
  capacity_is_positive : forall c, 0 < capacity i c
}.

Definition assignment := list (partition * member).

(** Who may hold a partition. *)
Definition subscribes (i : instance) (p : partition) : list member :=
  subscribers i (topic_of i p).

(** A partition that has a subscriber has to be assigned. *)
Definition assignable (i : instance) (p : partition) : Prop := subscribes i p <> [].

(** Valid (and complete): nothing is assigned twice, everything is assigned to a subscriber
    of its topic, and everything that has a subscriber is assigned. *)
Record valid (i : instance) (a : assignment) : Prop := Valid {
  assigned_once : NoDup (map fst a);
  assigned_to_subscribers :
    forall p c, In (p, c) a -> In p (partitions i) /\ In c (subscribes i p);
  assigned_if_assignable :
    forall p, In p (partitions i) -> assignable i p -> In p (map fst a)
}.

(** The sum of [f x] over a list. *)
Fixpoint sum {A : Type} (f : A -> Z) (l : list A) : Z :=
  match l with [] => 0 | x :: l => f x + sum f l end.

Definition is_owner (i : instance) (p : partition) (c : member) : bool :=
  match owner i p with Some d => (d =? c)%positive | None => false end.

Definition has_owner (i : instance) (p : partition) : bool :=
  match owner i p with Some _ => true | None => false end.

(** What a member holds, in number and in lag. *)
Definition load (a : assignment) (c : member) : Z :=
  sum (fun pair => if (snd pair =? c)%positive then 1 else 0) a.

Definition lag_held (i : instance) (a : assignment) (c : member) : Z :=
  sum (fun pair => if (snd pair =? c)%positive then lag i (fst pair) else 0) a.

(** Partitions that stay with their owner; owned partitions that do not; partitions on a
    member that is far from all their replicas. *)
Definition kept (i : instance) (a : assignment) : Z :=
  sum (fun pair => if is_owner i (fst pair) (snd pair) then 1 else 0) a.

Definition owned (i : instance) : Z :=
  sum (fun p => if has_owner i p then 1 else 0) (partitions i).

Definition moves (i : instance) (a : assignment) : Z := owned i - kept i a.

Definition mismatches (i : instance) (a : assignment) : Z :=
  sum (fun pair => if is_far i (fst pair) (snd pair) then 1 else 0) a.

(** Peak lag is at most [n / scale] if [n] is no less than each member's lag in units of
    its capacity: lag / capacity <= n / scale. Without capacities both are 1. *)
Definition peak_lag_at_most (i : instance) (a : assignment) (scale n : Z) : Prop :=
  forall c, In c (members i) -> lag_held i a c * scale <= n * capacity i c.

(** Members that can receive something. *)
Definition in_play (i : instance) (c : member) : Prop :=
  exists p, In p (partitions i) /\ In c (subscribes i p).

(** What members in play hold, in units that each of them has, differs by at most
    [n / scale]: amount / unit. Units are capacities or, where these do not count, 1. *)
Definition spread_at_most (i : instance) (amount unit : member -> Z) (scale n : Z) : Prop :=
  forall c d, in_play i c -> in_play i d ->
    (amount c * unit d - amount d * unit c) * scale <= n * (unit c * unit d).

(** Kafka's balance score: the sum over pairs of members of the difference in load. In one
    order a pair adds it, and in the other nothing. *)
Definition kip54_score (i : instance) (a : assignment) : Z :=
  sum (fun c => sum (fun d => Z.max 0 (load a c - load a d)) (members i)) (members i).

(** Sum of squares of loads. *)
Definition squares (i : instance) (a : assignment) : Z :=
  sum (fun c => load a c * load a c) (members i).

(** The load vector: every load, as a fraction of the member's capacity, largest first. *)
Definition fraction (i : instance) (a : assignment) (c : member) : Q :=
  load a c # Z.to_pos (capacity i c).

Fixpoint insert (x : Q) (l : list Q) : list Q :=
  match l with
  | [] => [x]
  | y :: l => if Qle_bool y x then x :: y :: l else y :: insert x l
  end.

Definition largest_first (l : list Q) : list Q := fold_right insert [] l.

Definition load_vector (i : instance) (a : assignment) : list Q :=
  largest_first (map (fraction i a) (members i)).

(** The first difference decides. *)
Fixpoint lexicographically_le (v w : list Q) : Prop :=
  match v, w with
  | x :: v, y :: w => (x < y)%Q \/ ((x == y)%Q /\ lexicographically_le v w)
  | _, _ => True
  end.

(** Dec-min balanced: no valid assignment has a smaller load vector. *)
Definition dec_min (i : instance) (a : assignment) : Prop :=
  valid i a /\
  forall b, valid i b -> lexicographically_le (load_vector i a) (load_vector i b).

(** KIP-54 balanced: no single partition can pass to a subscriber of its topic whose load
    is lower by two or more. *)
Definition kip54_balanced (i : instance) (a : assignment) : Prop :=
  valid i a /\
  forall p c d, In (p, c) a -> In d (subscribes i p) -> load a c <= load a d + 1.

(** A spread of k: loads / capacity of members in play differ by at most k. *)
Definition spread_balanced (i : instance) (k : Z) (a : assignment) : Prop :=
  valid i a /\ spread_at_most i (load a) (capacity i) 1 k.

(** KIP-169: within each topic, loads are dec-min among its subscribers. *)
Definition of_topic (i : instance) (t : topic) : instance :=
  Instance (members i)
    (filter (fun p => (topic_of i p =? t)%positive) (partitions i))
    (topic_of i) (subscribers i) (owner i) (lag i) (is_far i) (capacity i).

Definition pairs_of_topic (i : instance) (t : topic) (a : assignment) : assignment :=
  filter (fun pair => (topic_of i (fst pair) =? t)%positive) a.

Definition per_topic_balanced (i : instance) (a : assignment) : Prop :=
  valid i a /\ forall t, dec_min (of_topic i t) (pairs_of_topic i t a).

(** The topics' own peak lags come to at most [n / scale] if there are numbers that these do
    not exceed, and of no topics together more than [n]. *)
Definition topic_peak_lag_at_most (i : instance) (a : assignment) (scale n : Z) : Prop :=
  exists peak : topic -> Z,
    (forall t, 0 <= peak t /\
       peak_lag_at_most (of_topic i t) (pairs_of_topic i t a) scale (peak t)) /\
    forall ts, NoDup ts -> sum peak ts <= n.
