(* What Extraction.v needs of Zarith by a name that no extracted module hides. *)

let equal = Z.equal
let is_at_most = Z.leq
let is_less = Z.lt
let is_one p = Z.leq p Z.one
let is_odd = Z.is_odd
let half p = Z.shift_right p 1
let twice p = Z.shift_left p 1
