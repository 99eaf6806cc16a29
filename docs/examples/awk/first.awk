# Round robin: each partition goes to the next member.

function seen(depth) {
    if (depth == 2 && key[1] == "\"topics\"") topic[++topics] = token
    if (depth == 2 && key[1] == "\"members\"") member[++members] = token
}

function found(depth) {
    if (depth == 3 && key[3] == "\"partitions\"") partitions[topics] = token + 0
}

{
    topics = members = turn = 0
    split("", held)
    read_line($0)
    for (t = 1; t <= topics; t++)
        for (p = 0; p < partitions[t]; p++) {
            m = turn++ % members + 1
            held[m, t] = held[m, t] "," p
        }
    answer = ""
    for (m = 1; m <= members; m++) {
        mine = ""
        for (t = 1; t <= topics; t++)
            if ((m, t) in held) mine = mine "," topic[t] ":[" substr(held[m, t], 2) "]"
        answer = answer "," member[m] ":{" substr(mine, 2) "}"
    }
    print "{\"format\":\"assignment/1\",\"members\":{" substr(answer, 2) "}}"
}
