(* Functions on lists that need no stack, however long the list is: those of the standard
   library call themselves once per item. *)

module List = struct
  include Stdlib.List

  let append one other = rev_append (rev one) other
  let map f list = rev (rev_map f list)
end

let ( @ ) = List.append
