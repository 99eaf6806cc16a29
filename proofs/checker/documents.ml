(* Read JSON values field by field. An unknown or repeated key, a value of another type and
   an integer out of range are errors, each with its path. *)

exception Unreadable of string * string (* path, reason *)
exception Defect of string (* of the program itself: what it hands on is not as it must be *)

let refuse path reason = raise (Unreadable (path, reason))

type json = Yojson.Safe.t

let number n : json = if Z.fits_int n then `Int (Z.to_int n) else `Intlit (Z.to_string n)
let below path key = path ^ "." ^ key

let entries path (value : json) =
  match value with
  | `Assoc fields ->
      let seen = Hashtbl.create (List.length fields) in
      List.iter
        (fun (key, _) ->
          if Hashtbl.mem seen key then refuse (below path key) "key given twice";
          Hashtbl.add seen key ())
        fields;
      fields
  | _ -> refuse path "no object"

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
  match value with `String text -> text | _ -> refuse path "no string"

let items path (value : json) =
  match value with `List items -> items | _ -> refuse path "no list"

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
    | _ -> refuse path "no integer"
  in
  if Z.lt number least || Z.gt number most then refuse path "out of range";
  number

let count path value = integer ~least:Z.zero path value
let positive path value = integer ~least:Z.one path value

(* A count that an array may have. *)
let small path value =
  let number = count path value in
  if Z.leq number (Z.of_int max_int) then Z.to_int number else max_int

let format name path value =
  if text path value <> name then refuse path ("no " ^ name)
