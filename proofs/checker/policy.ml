(* Read a policy, and what an answer states of its levels. Every policy has exactly one text:
   [dec-min; 2*stickiness + rack, peak-lag; max-moves=3]. *)

open Lists
open Documents

type level = (Z.t * string) list (* weight, objective; summed *)

type t = {
  text : string;
  balance : string; (* dec-min, kip54, per-topic, spread or none *)
  spread_max : Z.t option; (* of a spread *)
  levels : (string * level) list; (* with the text of each, first level first *)
  max_moves : Z.t option;
}

type value = Number of Z.t | Numbers of Z.t list

type term = {
  kind : string;
  bound : Z.t;
  members : string list option;
  topics : string list option;
  at_least : Z.t option;
  weight : (string * Z.t) list;
  price : (string * (string * Z.t) list) list;
  steps : (Z.t * Z.t) list option;
}

type proof = Certificate | Terms of term list | Search of string | Nothing
type stated = { of_level : string; claimed_bound : value; proof : proof }

let objectives =
  [ "stickiness"; "peak-lag"; "topic-peak-lag"; "lag-spread"; "lag-deviation"; "rack";
    "per-topic-spread"; "load"; "sum-of-squares" ]
[@@ocamlformat "disable"]

let length_max = 10_000
let weight_max = Z.pred (Z.shift_left Z.one 31)

let split separator text =
  let width = String.length separator and length = String.length text in
  let rec from start k parts =
    if k + width > length then List.rev (String.sub text start (length - start) :: parts)
    else if String.sub text k width = separator then
      from (k + width) (k + width) (String.sub text start (k - start) :: parts)
    else from start (k + 1) parts
  in
  from 0 0 []

let without prefix text =
  let width = String.length prefix and length = String.length text in
  if length >= width && String.sub text 0 width = prefix then
    Some (String.sub text width (length - width))
  else None

let is_digit letter = letter >= '0' && letter <= '9'

(* A number without leading zeros. *)
let number ~digits text =
  let length = String.length text in
  if
    length > 0 && length <= digits
    && String.for_all is_digit text
    && (text = "0" || text.[0] <> '0')
  then Some (Z.of_string text)
  else None

let read_level path source =
  let read_one written =
    let weight, objective =
      match split "*" written with
      | [ weight; objective ] -> (number ~digits:10 weight, objective)
      | [ objective ] -> (Some Z.one, objective)
      | _ -> (None, "")
    in
    match weight with
    | Some weight
      when List.mem objective objectives
           && (Z.gt weight Z.one || written = objective)
           && Z.leq weight weight_max ->
        (weight, objective)
    | _ -> refuse path "no objective"
  in
  let level = List.map read_one (split " + " source) in
  let named = List.map snd level in
  if List.length (List.sort_uniq compare named) < List.length named then
    refuse path "an objective twice";
  if List.mem "load" named && source <> "load" then refuse path "load stands alone";
  level

let read_levels path source =
  let add (found, alone) written =
    let level = read_level path written in
    let objective = match level with [ (_, objective) ] -> [ objective ] | _ -> [] in
    if List.mem_assoc written found || List.exists (fun one -> List.mem one alone) objective
    then refuse path "a level twice";
    ((written, level) :: found, objective @ alone)
  in
  List.rev (fst (List.fold_left add ([], []) (split ", " source)))

let read path value =
  let source = text path value in
  if String.length source > length_max then refuse path "too long";
  let limited digits =
    let read = number ~digits:19 digits in
    Option.iter (fun n -> if Z.gt n largest then refuse path "out of range") read;
    read
  in
  let first, rest =
    match split "; " source with first :: rest -> (first, rest) | [] -> ("", [])
  in
  let balance, spread_max =
    match (first, Option.map limited (without "spread=" first)) with
    | ("dec-min" | "kip54" | "per-topic" | "none"), _ -> (first, None)
    | _, Some (Some most) -> ("spread", Some most)
    | _ -> refuse path "no balance"
  in
  let budget = function
    | [] -> None
    | parts -> Option.bind (without "max-moves=" (List.nth parts (List.length parts - 1))) limited
  in
  let max_moves = budget rest in
  let levels =
    match (rest, max_moves) with
    | [], _ | [ _ ], Some _ -> []
    | [ levels ], None | [ levels; _ ], Some _ -> read_levels path levels
    | _ -> refuse path "no budget of moves"
  in
  { text = source; balance; spread_max; levels; max_moves }

let value path (value : json) =
  match value with
  | `List _ -> Numbers (list integer path value)
  | _ -> Number (integer path value)

let term path value =
  let found =
    fields path
      [ "kind"; "bound"; "members"; "topics"; "at_least"; "weight"; "price"; "steps" ]
      value
  in
  let table read key = Option.value ~default:[] (optional path found key (named read)) in
  {
    kind = required path found "kind" text;
    bound = required path found "bound" (fun path value -> integer path value);
    members = optional path found "members" (list text);
    topics = optional path found "topics" (list text);
    at_least = optional path found "at_least" count;
    weight = table count "weight";
    price = table (named (fun path value -> integer path value)) "price";
    steps = optional path found "steps" (list (pair count));
  }

let proof path value =
  let found = entries path value in
  let only known = ignore (fields path ("by" :: known) value) in
  match required path found "by" text with
  | "certificate" ->
      only [];
      Certificate
  | "terms" -> (
      only [ "terms" ];
      match required path found "terms" (list term) with
      | [] -> refuse (below path "terms") "empty"
      | terms -> Terms terms)
  | "search" ->
      only [ "engine"; "terms" ];
      ignore (optional path found "terms" (list term));
      Search (required path found "engine" text)
  | _ -> refuse (below path "by") "no proof"

let objective path value_read =
  let found = fields path [ "of"; "value"; "bound"; "scale"; "proof" ] value_read in
  ignore (required path found "value" value);
  ignore (optional path found "scale" positive);
  {
    of_level = required path found "of" text;
    claimed_bound = required path found "bound" value;
    proof = Option.value ~default:Nothing (optional path found "proof" proof);
  }

let status path value =
  match text path value with
  | ("optimal" | "feasible" | "infeasible" | "unknown") as word -> word
  | _ -> refuse path "no status"

(* Moves and mismatches of a level that counts nothing else. *)
let linear (level : level) =
  if List.for_all (fun (_, one) -> one = "stickiness" || one = "rack") level then
    let weight name =
      Option.value ~default:Z.zero
        (Option.map fst (List.find_opt (fun (_, one) -> one = name) level))
    in
    Some (weight "stickiness", weight "rack")
  else None

let divides (_, objective) =
  not (List.mem objective [ "stickiness"; "rack"; "lag-deviation"; "sum-of-squares" ])

(* Whether values are fractions of capacity. *)
let is_divided policy =
  policy.balance = "spread"
  || List.exists (fun (_, level) -> List.exists divides level) policy.levels
