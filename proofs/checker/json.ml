(* A strict reader of JSON, and its writer. One text has one value, as RFC 8259 has it: no
   comment, no key without quotes, no control character in a string, nothing that is not
   UTF-8, and nothing after the value.

   What is JSON, but in no document, is read as [`Odd]: floats, the names of no numbers,
   integers of more than [digits_max] characters, a key given twice, half a surrogate pair.
   This is what verify/schema.py reads. *)

type t =
  [ `Assoc of (string * t) list
  | `List of t list
  | `String of string
  | `Int of int
  | `Intlit of string (* beyond an OCaml integer *)
  | `Bool of bool
  | `Null
  | `Odd of string (* reason *) ]

exception Malformed of string

let depth_max = 1000 (* no document has more than eight levels *)
let digits_max = 20 (* of an integer, its sign included: more are beyond 64 bits *)

(* Text *)

(* The place of the first byte that is not UTF-8 (RFC 3629): neither overlong, nor half a
   surrogate pair, nor above U+10FFFF. *)
let first_not_utf8 text start stop =
  let rec from k =
    if k = stop then None
    else
      let one = Char.code (String.unsafe_get text k) in
      if one < 0x80 then from (k + 1)
      else if one < 0xC2 then Some k
      else if one < 0xE0 then following k 1 0x80 0xBF
      else if one < 0xF0 then
        following k 2 (if one = 0xE0 then 0xA0 else 0x80) (if one = 0xED then 0x9F else 0xBF)
      else if one < 0xF5 then
        following k 3 (if one = 0xF0 then 0x90 else 0x80) (if one = 0xF4 then 0x8F else 0xBF)
      else Some k
  and following k count least most =
    let within n least most =
      k + n < stop
      &&
      let one = Char.code text.[k + n] in
      least <= one && one <= most
    in
    let rec rest n = n > count || (within n 0x80 0xBF && rest (n + 1)) in
    if within 1 least most && rest 2 then from (k + count + 1) else Some k
  in
  from start

let byte_order_mark = "\xEF\xBB\xBF"

let starts_with_mark text start stop =
  stop - start >= 3 && String.sub text start 3 = byte_order_mark

(* Values *)

type reader = {
  text : string;
  stop : int; (* of the value's text *)
  mutable at : int;
  unescaped : Buffer.t;
}

let malformed reader reason =
  raise (Malformed (Printf.sprintf "not JSON: %s at byte %d" reason reader.at))

(* The next byte; at the end, one that begins nothing. *)
let peek reader =
  if reader.at < reader.stop then String.unsafe_get reader.text reader.at else '\000'

let skip reader = reader.at <- reader.at + 1

let rec skip_space reader =
  match peek reader with
  | ' ' | '\t' | '\n' | '\r' ->
      skip reader;
      skip_space reader
  | _ -> ()

let is_word reader word =
  let width = String.length word in
  reader.at + width <= reader.stop && String.sub reader.text reader.at width = word

let hex_digits reader =
  let digit k =
    match if k < reader.stop then reader.text.[k] else ' ' with
    | '0' .. '9' as letter -> Char.code letter - Char.code '0'
    | 'a' .. 'f' as letter -> Char.code letter - Char.code 'a' + 10
    | 'A' .. 'F' as letter -> Char.code letter - Char.code 'A' + 10
    | _ -> malformed reader "no four digits of a character"
  in
  let start = reader.at in
  let add code k = (16 * code) + digit (start + k) in
  let code = List.fold_left add 0 [ 0; 1; 2; 3 ] in
  reader.at <- start + 4;
  code

let add_character buffer code =
  let add n = Buffer.add_char buffer (Char.chr n) in
  let following n = add (0x80 lor (n land 0x3F)) in
  if code < 0x80 then add code
  else if code < 0x800 then (
    add (0xC0 lor (code lsr 6));
    following code)
  else if code < 0x10000 then (
    add (0xE0 lor (code lsr 12));
    following (code lsr 6);
    following code)
  else (
    add (0xF0 lor (code lsr 18));
    following (code lsr 12);
    following (code lsr 6);
    following code)

let is_high code = 0xD800 <= code && code <= 0xDBFF
let is_low code = 0xDC00 <= code && code <= 0xDFFF

(* A character by its number, after the [u]; whether it is half a surrogate pair. *)
let escaped_number reader =
  let code = hex_digits reader in
  let joined =
    if is_high code && is_word reader "\\u" then (
      let before = reader.at in
      reader.at <- before + 2;
      let low = hex_digits reader in
      if is_low low then Some (0x10000 + ((code - 0xD800) lsl 10) + (low - 0xDC00))
      else (
        reader.at <- before;
        None))
    else None
  in
  let code = Option.value ~default:code joined in
  add_character reader.unescaped code;
  is_high code || is_low code

let escaped reader =
  let letter = peek reader in
  let plain = function
    | ('"' | '\\' | '/') as letter -> letter
    | 'b' -> '\b'
    | 'f' -> '\012'
    | 'n' -> '\n'
    | 'r' -> '\r'
    | 't' -> '\t'
    | _ -> malformed reader "an unknown escape"
  in
  if letter = 'u' then (
    skip reader;
    escaped_number reader)
  else (
    Buffer.add_char reader.unescaped (plain letter);
    skip reader;
    false)

(* A string after its first quote, and whether half a surrogate pair is in it. *)
let string reader =
  let start = reader.at in
  let rec stretch () =
    match peek reader with
    | '"' | '\\' -> ()
    | '\000' .. '\031' when reader.at >= reader.stop -> malformed reader "a string without end"
    | '\000' .. '\031' -> malformed reader "a control character in a string"
    | _ ->
        skip reader;
        stretch ()
  in
  stretch ();
  if peek reader = '"' then (
    let found = String.sub reader.text start (reader.at - start) in
    skip reader;
    (found, false))
  else (
    Buffer.clear reader.unescaped;
    let rec rest start is_half =
      Buffer.add_substring reader.unescaped reader.text start (reader.at - start);
      let closes = peek reader = '"' in
      skip reader;
      if closes then (Buffer.contents reader.unescaped, is_half)
      else
        let is_half = escaped reader || is_half in
        let start = reader.at in
        stretch ();
        rest start is_half
    in
    rest start false)

let half = "half a surrogate pair in a string"

let rec skip_digits reader =
  match peek reader with
  | '0' .. '9' ->
      skip reader;
      skip_digits reader
  | _ -> ()

let is_digit reader = match peek reader with '0' .. '9' -> true | _ -> false

(* Digits after a point or an exponent, if there are any; else it is not part of the number. *)
let part reader marks signs =
  let before = reader.at in
  if String.contains marks (peek reader) && reader.at < reader.stop then (
    skip reader;
    if String.contains signs (peek reader) && reader.at < reader.stop then skip reader;
    if is_digit reader then (
      skip_digits reader;
      true)
    else (
      reader.at <- before;
      false))
  else false

let number reader : t =
  let start = reader.at in
  if peek reader = '-' then skip reader;
  if not (is_digit reader) then malformed reader "no value";
  if peek reader = '0' then skip reader else skip_digits reader;
  let width = reader.at - start in
  let has_fraction = part reader "." "" in
  let is_float = part reader "eE" "+-" || has_fraction in
  if is_float then `Odd "a float"
  else if width > digits_max then `Odd "integer beyond 64 bits"
  else
    let digits = String.sub reader.text start width in
    match int_of_string_opt digits with Some n -> `Int n | None -> `Intlit digits

let word reader word value =
  if is_word reader word then (
    reader.at <- reader.at + String.length word;
    value)
  else malformed reader "no value"

(* Whether a key is given twice. *)
let repeats fields =
  let rec all_differ = function
    | [] -> true
    | (key, _) :: rest -> (not (List.mem_assoc key rest)) && all_differ rest
  in
  if List.compare_length_with fields 8 <= 0 then not (all_differ fields)
  else
    let keys = List.sort String.compare (List.rev_map fst fields) in
    let rec twice = function
      | one :: (other :: _ as rest) -> String.equal one other || twice rest
      | _ -> false
    in
    twice keys

let rec value reader depth : t =
  match peek reader with
  | '"' ->
      skip reader;
      let found, is_half = string reader in
      if is_half then `Odd half else `String found
  | '{' ->
      enter reader depth;
      if peek reader = '}' then (
        skip reader;
        `Assoc [])
      else fields reader (depth + 1) [] false
  | '[' ->
      enter reader depth;
      if peek reader = ']' then (
        skip reader;
        `List [])
      else items reader (depth + 1) []
  | 't' -> word reader "true" (`Bool true)
  | 'f' -> word reader "false" (`Bool false)
  | 'n' -> word reader "null" `Null
  | 'N' -> word reader "NaN" (`Odd "no JSON: NaN")
  | 'I' -> word reader "Infinity" (`Odd "no JSON: Infinity")
  | '-' when is_word reader "-Infinity" -> word reader "-Infinity" (`Odd "no JSON: -Infinity")
  | _ -> number reader

and enter reader depth =
  if depth = depth_max then raise (Malformed "nested too deeply");
  skip reader;
  skip_space reader

and items reader depth found =
  let found = value reader depth :: found in
  skip_space reader;
  match peek reader with
  | ',' ->
      skip reader;
      skip_space reader;
      items reader depth found
  | ']' ->
      skip reader;
      `List (List.rev found)
  | _ -> malformed reader "no comma between items"

and fields reader depth found has_half =
  if peek reader <> '"' then malformed reader "no key in quotes";
  skip reader;
  let key, is_half = string reader in
  let has_half = has_half || is_half in
  skip_space reader;
  if peek reader <> ':' then malformed reader "no colon after a key";
  skip reader;
  skip_space reader;
  let found = (key, value reader depth) :: found in
  skip_space reader;
  match peek reader with
  | ',' ->
      skip reader;
      skip_space reader;
      fields reader depth found has_half
  | '}' ->
      skip reader;
      if has_half then `Odd half
      else if repeats found then `Odd "key given twice"
      else `Assoc (List.rev found)
  | _ -> malformed reader "no comma between fields"

(* The value of a text, from one byte of it up to another. *)
let read text start stop =
  (match first_not_utf8 text start stop with
  | Some k -> raise (Malformed (Printf.sprintf "not UTF-8 at byte %d" (k - start)))
  | None -> ());
  if starts_with_mark text start stop then raise (Malformed "starts with a byte order mark");
  let reader = { text; stop; at = start; unescaped = Buffer.create 64 } in
  skip_space reader;
  let found = value reader 0 in
  skip_space reader;
  if reader.at < stop then malformed reader "more after the value";
  found

(* Writing *)

let add_quoted buffer text =
  let add = function
    | '"' -> Buffer.add_string buffer "\\\""
    | '\\' -> Buffer.add_string buffer "\\\\"
    | '\000' .. '\031' as letter ->
        Buffer.add_string buffer (Printf.sprintf "\\u%04x" (Char.code letter))
    | letter -> Buffer.add_char buffer letter
  in
  Buffer.add_char buffer '"';
  String.iter add text;
  Buffer.add_char buffer '"'

let rec add buffer : t -> unit = function
  | `Assoc fields ->
      let add_field (key, value) =
        add_quoted buffer key;
        Buffer.add_char buffer ':';
        add buffer value
      in
      add_all buffer '{' add_field fields '}'
  | `List items -> add_all buffer '[' (add buffer) items ']'
  | `String text -> add_quoted buffer text
  | `Int n -> Buffer.add_string buffer (string_of_int n)
  | `Intlit digits -> Buffer.add_string buffer digits
  | `Bool is_so -> Buffer.add_string buffer (string_of_bool is_so)
  | `Null | `Odd _ -> Buffer.add_string buffer "null"

and add_all : 'a. Buffer.t -> char -> ('a -> unit) -> 'a list -> char -> unit =
 fun buffer first add_one all last ->
  Buffer.add_char buffer first;
  List.iteri
    (fun place one ->
      if place > 0 then Buffer.add_char buffer ',';
      add_one one)
    all;
  Buffer.add_char buffer last

let write channel value =
  let buffer = Buffer.create 1024 in
  add buffer value;
  Buffer.add_char buffer '\n';
  Buffer.output_buffer channel buffer
