(* Files of documents, and pairs of an instance with its answer. A file has one document, or
   one per line; what cannot be read is the fault of its own pair alone. Lines and pairs are
   those of verify/command/pairs.py. *)

exception Mismatch of string (* instances and answers that do not belong together *)

type 'a entry = {
  line : int; (* from 1 *)
  found : ('a, string * string) result; (* or path and reason *)
  id : string option;
}

let content name =
  let channel = if name = "-" then stdin else open_in_bin name in
  set_binary_mode_in channel true;
  let read = Buffer.create 65536 and chunk = Bytes.create 65536 in
  let rec fill () =
    match input channel chunk 0 (Bytes.length chunk) with
    | 0 -> ()
    | count ->
        Buffer.add_subbytes read chunk 0 count;
        fill ()
  in
  fill ();
  if name <> "-" then close_in channel;
  Buffer.contents read

let is_space letter =
  match letter with ' ' | '\t' | '\n' | '\r' | '\011' | '\012' -> true | _ -> false

(* Where what is no space begins. *)
let rec first_letter text start stop =
  if start < stop && is_space text.[start] then first_letter text (start + 1) stop else start

let is_json text start stop =
  match Json.read text start stop with _ -> true | exception Json.Malformed _ -> false

let contains word text start stop =
  let width = String.length word in
  let rec from k =
    k + width <= stop
    && ((text.[k] = word.[0] && String.sub text k width = word) || from (k + 1))
  in
  from start

let is_document text (_, start, stop) =
  let first = first_letter text start stop in
  first < stop && text.[first] = '{'
  && contains "\"format\"" text start stop
  && is_json text start stop

(* Number, start and end of the lines that are not blank. *)
let lines_of text =
  let length = String.length text in
  let rec from number start found =
    let stop = Option.value ~default:length (String.index_from_opt text start '\n') in
    let found =
      if first_letter text start stop < stop then (number, start, stop) :: found else found
    in
    if stop = length then List.rev found else from (number + 1) (stop + 1) found
  in
  from 1 0 []

(* A file has lines if its first one is JSON, or if some line is an object that names its
   format, and the whole is not JSON. *)
let texts_of text =
  let length = String.length text in
  match lines_of text with
  | (_, start, stop) :: _ :: _ as lines
    when is_json text start stop
         || (List.exists (is_document text) lines && not (is_json text 0 length)) ->
      lines
  | _ -> [ (1, 0, length) ]

let entry text read id_of (line, start, stop) =
  match read (Json.read text start stop) with
  | found -> { line; found = Ok found; id = id_of found }
  | exception Json.Malformed reason -> { line; found = Error ("$", reason); id = None }
  | exception Documents.Unreadable (path, reason) ->
      { line; found = Error (path, reason); id = None }

let entries name read id_of =
  let text = content name in
  List.rev (List.rev_map (entry text read id_of) (texts_of text))

(* Entries by id, if all have one, and no two the same. *)
let by_id entries =
  let found = Hashtbl.create 16 in
  let is_new entry =
    match entry.id with
    | Some id when not (Hashtbl.mem found id) ->
        Hashtbl.add found id entry;
        true
    | _ -> false
  in
  if List.for_all is_new entries then Some found else None

(* Pairs by position, or by id where all have one and the order differs. *)
let paired instances answers =
  let count = List.length instances in
  if List.compare_length_with answers count <> 0 then
    raise (Mismatch "one assignment is needed for each instance");
  let has_own entry found = Hashtbl.mem found (Option.get entry.id) in
  match (by_id instances, by_id answers) with
  | Some _, Some found when List.for_all (fun entry -> has_own entry found) instances ->
      let of_instance entry = (entry, Hashtbl.find found (Option.get entry.id)) in
      List.rev (List.rev_map of_instance instances)
  | _ ->
      let pair found instance answer =
        match (instance.id, answer.id) with
        | Some one, Some other when one <> other ->
            let place = Printf.sprintf "line %d: id %s" answer.line other in
            raise (Mismatch (place ^ ", but the instance has " ^ one))
        | _ -> (instance, answer) :: found
      in
      List.rev (List.fold_left2 pair [] instances answers)
