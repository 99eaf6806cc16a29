(* Read JSON values field by field. An unknown key, a value of another type or that no document
   may have, and an integer out of range are errors, each with its path. *)

exception Unreadable of string * string (* path, reason *)
exception Defect of string (* of the program itself: what it hands on is not as it must be *)

let refuse path reason = raise (Unreadable (path, reason))

type json = Json.t

let number n : json = if Z.fits_int n then `Int (Z.to_int n) else `Intlit (Z.to_string n)
let below path key = path ^ "." ^ key

(* Why a value is none of those that are expected. *)
let wrong path (value : json) reason =
  match value with `Odd reason -> refuse path reason | _ -> refuse path reason

let entries path (value : json) =
  match value with `Assoc fields -> fields | _ -> wrong path value "no object"

(* The fields of an object, all of whose keys are known. *)
let fields path known value =
  let found = entries path value in
  List.iter
    (fun (key, _) ->
      if not (List.mem key known) then refuse (below path key) "unknown key")
    found;
  found

let optional path found key read =
  Option.map (read (below path key)) (List.assoc_opt key found)

let required path found key read =
  match List.assoc_opt key found with
  | Some value -> read (below path key) value
  | None -> refuse (below path key) "missing"

let text path (value : json) =
  match value with `String text -> text | _ -> wrong path value "no string"

let items path (value : json) =
  match value with `List items -> items | _ -> wrong path value "no list"

let list read path value = List.rev (List.rev_map (read path) (items path value))

let named read path value =
  let read_one (name, one) = (name, read (below path name) one) in
  List.rev (List.rev_map read_one (entries path value))

let pair read path value =
  match list read path value with
  | [ first; second ] -> (first, second)
  | _ -> refuse path "not two numbers"

let largest = Z.pred (Z.shift_left Z.one 63)

let integer ?(least = Z.neg largest) ?(most = largest) path (value : json) =
  let number =
    match value with
    | `Int number -> Z.of_int number
    | `Intlit digits -> Z.of_string digits
    | _ -> wrong path value "no integer"
  in
  if Z.lt number least || Z.gt number most then refuse path "out of range";
  number

let count path value = integer ~least:Z.zero path value
let positive path value = integer ~least:Z.one path value

let truth path (value : json) =
  match value with `Bool is_so -> is_so | _ -> wrong path value "no boolean"

(* A count that an array may have: the largest instead of a larger one. *)
let clamp number = if Z.leq number (Z.of_int max_int) then Z.to_int number else max_int
let small path value = clamp (count path value)

let format name path value =
  if text path value <> name then refuse path ("no " ^ name)
