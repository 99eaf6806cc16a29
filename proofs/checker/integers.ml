(* What Extraction.v needs of Zarith by a name that no extracted module hides. *)

let equal = Z.equal
let is_at_most = Z.leq
let is_less = Z.lt

(* Tables split a number bit by bit, a hundred million times for a large group. Zarith keeps
   what fits into an OCaml integer as one. *)

let is_small (p : Z.t) = Obj.is_int (Obj.repr p)
let small (p : Z.t) : int = Obj.magic p
let of_small (n : int) : Z.t = Obj.magic n
let is_one p = p == Z.one
let is_odd p = if is_small p then small p land 1 = 1 else Z.is_odd p
let half p = if is_small p then of_small (small p asr 1) else Z.shift_right p 1
let twice p = Z.shift_left p 1
