#!/usr/bin/env bash
# The long matches behind docs/performance.md, docs/search.md, docs/levels.md and the ladders, each resumable:
#
#     benchmarks/lab.sh WHAT GAMES
#
# plays WHAT up to so many games (of each pairing), in a folder under $LAB; another call with more games goes on.
#   int8-19 int8-9      g170-b6c96 in eight bits against float32: 8 visits each on 19x19, 96 against 32 on 9x9
#   int8-time           the same at 0.2 s a move each, 9x9
#   symmetric           search.cache_symmetric on against off, 64 visits, 9x9
#   level-15-20 level-10-15 level-5-10 level-1-5    five ranks apart (1-5: four) at five stones, 19x19, no resigning
#   anchor              the level of 8.5 kyu against GNU Go 3.8, level 10
#   ladder-9 ladder-19  all rungs of the ladder, each against its neighbours; `ladder-9/RUNG` one of them
#   show-9 show-19      the ladder so far, with picture
#   tune-9              one search setting changed at a time against the defaults, 64 visits, 9x9 (a gauntlet)
#   uncertain           search.uncertainty on against off, $VISITS (48) visits of the net $SURE, which says how sure it is, 9x9
#   kata-9 kata-9-one   against KataGo's own search, g170-b6c96 and 200 visits on both sides, 9x9; one leaf at a time
#   in-flight           128 leaves in flight against 1, 3200 visits, 9x9
# Programs and nets: $KEISEI, $GNUGO, $PACHI (built without dcnn), $KATAGO, $SURE and $G170 (KataGo's g170-b6c96.bin.gz).
set -eu
LAB=${LAB:-$HOME/.local/share/keisei/lab}
KEISEI=${KEISEI:-keisei} GNUGO=${GNUGO:-gnugo} PACHI=${PACHI:-pachi --nodcnn} KATAGO=${KATAGO:-katago}
G170=${G170:-g170-b6c96.bin.gz} SURE=${SURE:-b10c384h6nbttflrs.bin.gz} VISITS=${VISITS:-48}
one="--set net.threads=1"
mkdir -p "$LAB"

play() { # FOLDER ENGINE ENGINE OPTIONS…
    local resume=""
    if [ -e "$LAB/$1/games.jsonl" ]; then resume=--resume; fi
    "$KEISEI" match "${@:2}" --out "$LAB/$1" --no-comments $resume
}

played() { # PREFIX of the folders; those of matches that could not begin hold logs alone
    for folder in "$LAB/$1"-*/; do
        if [ -s "$folder/games.jsonl" ]; then echo "$folder"; fi
    done
}

bits() { # VISITS OR TIME of int8, of float32
    echo "int8=keisei:$G170$1 $one --set net.precision=int8"
    echo "f32=keisei:$G170$2 $one --set net.precision=float32"
}

level() { # LETTER LOSS
    echo "$1$2=keisei:@32 --set level.loss=$2 $one --set player.resign=false"
}

five() { # FOLDER LOSS of the stronger, of the weaker, GAMES
    play "$1" "$(level s "$2")" "$(level w "$3")" --handicap 5 --games "$4" --jobs 4 --timeout 3000
}

rung() { # SIZE NAME GAMES
    local first=${2%%,*} second=${2#*,} jobs=8
    case $2 in *gnugo* | *pachi* | *katago*) jobs=1 ;; esac
    play "l$1-${2/,/-}" "$(engine "$first")" "$(engine "$second")" --games "$3" --size "$1" --rules chinese \
        --openings 3/2 --jobs $jobs --timeout 3000
}

changed() { # NAME SETTINGS: the engine that differs from the defaults so
    echo "$1=keisei:b6c64@64 $one$(printf ' --set search.%s' "${@:2}")"
}

engine() { # NAME of a rung: as in the ladder
    case $1 in
    b6c64-v*) echo "$1=keisei:b6c64@${1#*-v} $one" ;;
    b6c96-v*) echo "$1=keisei:$G170@${1#*-v} $one" ;;
    gnugo*) echo "$1=$GNUGO --mode gtp --level ${1#gnugo} --chinese-rules" ;;
    pachi-*) echo "$1=$PACHI -t =${1#pachi-} threads=1" ;;
    katago-*) echo "$1=$KATAGO gtp -model $G170 -config $LAB/katago.cfg" ;;
    esac
}

katago_config() { # FILE VISITS
    printf '%s\n' 'logFile = /dev/null' 'logSearchInfo = false' 'logAllGTPCommunication = false' 'rules = chinese' \
        "maxVisits = $2" 'numSearchThreads = 1' 'nnMaxBatchSize = 1' 'ponderingEnabled = false' \
        'allowResignation = true' 'resignThreshold = -0.95' 'resignConsecTurns = 3' >"$LAB/$1"
}

RUNGS="b6c64-v1,gnugo1 b6c64-v1,gnugo10 b6c64-v1,pachi-1000 b6c64-v1,b6c64-v16 b6c64-v16,b6c96-v1 b6c64-v16,pachi-3000
b6c64-v16,pachi-5000 b6c64-v16,b6c64-v64 b6c64-v64,b6c96-v16 b6c96-v16,katago-b6c96-v16 b6c64-v64,b6c64-v200
b6c64-v200,b6c96-v64 b6c64-v200,b6c64-v800"
RUNGS19="b6c64-v1,gnugo1 b6c64-v1,gnugo10 b6c64-v1,b6c64-v16 b6c64-v1,b6c96-v1 b6c64-v1,pachi-1000 b6c64-v16,pachi-3000
b6c64-v16,pachi-5000 b6c64-v16,b6c64-v64 b6c64-v16,b6c96-v1 b6c64-v64,b6c96-v16 b6c96-v16,katago-b6c96-v16
b6c64-v64,b6c64-v200 b6c64-v200,b6c96-v64 b6c64-v200,b6c64-v800"
what=${1:?WHAT} games=${2:-0}
case $what in
int8-19)
    alike="--set search.batch_size=1 --set search.two_batches=false" # else the slower side gets smaller batches
    mapfile -t two < <(bits "@8 $alike" "@8 $alike")
    play int8-19-alike "${two[@]}" --openings 77/4 --games "$games"
    ;;
int8-9) mapfile -t two < <(bits @96 @32) && play int8-9-v96 "${two[@]}" --size 9 --openings 7/4 --games "$games" --jobs 8 ;;
int8-time)
    mapfile -t two < <(bits " --time 0.2" " --time 0.2")
    play int8-9-time "${two[@]}" --size 9 --openings 7/4 --games "$games"
    ;;
symmetric)
    play symmetric-9 "shared=keisei:$G170@64 $one --set search.symmetry=fixed" \
        "apart=keisei:$G170@64 $one --set search.symmetry=fixed --set search.cache_symmetric=false" \
        --size 9 --openings 11/4 --games "$games" --jobs 8
    ;;
level-15-20) five lv-15-20 3.75 5 "$games" ;;
level-10-15) five lv-10-15 2.5 3.75 "$games" ;;
level-5-10) five lv-5-10 1.25 2.5 "$games" ;;
level-1-5) five lv-1-5 0.25 1.25 "$games" ;;
anchor)
    play anchor "level-8.5k=keisei:@32 --level 8.5k $one --set player.resign=false" "$(engine gnugo10)" \
        --rules chinese --games "$games" --timeout 3000
    ;;
ladder-9 | ladder-19)
    katago_config katago.cfg 16
    [ "$what" = ladder-9 ] || RUNGS=$RUNGS19
    for name in $RUNGS; do rung "${what#*-}" "$name" "$games"; done
    ;;
ladder-*/*) katago_config katago.cfg 16 && size=${what%%/*} && rung "${size#*-}" "${what#*/}" "$games" ;;
show-9) mapfile -t all < <(played l9) && "$KEISEI" ladder "${all[@]}" --anchor b6c64-v1=0 --png "$LAB/ladder-9x9.png" ;;
show-19)
    mapfile -t all < <(played l19)
    "$KEISEI" ladder "${all[@]}" --anchor b6c64-v1=0 --png "$LAB/ladder-19x19.png"
    ;;
tune-9)
    play tune-9 "base=keisei:b6c64@64 $one" \
        "$(changed plain value_weight_power=0 noise_prune_scale=0 bias_share=0)" \
        "$(changed cpuct-0.7 cpuct=0.7)" "$(changed cpuct-1.4 cpuct=1.4)" "$(changed stdev cpuct_stdev_scale=0.85)" \
        "$(changed fpu-0.1 fpu_reduction=0.1)" "$(changed fpu-0.35 fpu_reduction=0.35)" \
        "$(changed most-visits use_lcb=false)" \
        "$(changed score-0 static_score_utility=0 dynamic_score_utility=0)" \
        "$(changed root-symmetries-8 root_symmetries=8)" "$(changed one-symmetry symmetry=fixed)" \
        "$(changed one-leaf batch_size=1 two_batches=false)" \
        --format gauntlet --size 9 --openings 1/4 --balance b6c64:0.2 --games "$games" --jobs 16
    ;;
uncertain)
    play "uncertain-$(basename "${SURE%%.*}")" "on=keisei:$SURE@$VISITS $one --set search.uncertainty=true" \
        "off=keisei:$SURE@$VISITS $one" --size 9 --openings 1/4 --balance b6c64:0.2 --games "$games" --jobs 16 --timeout 30000
    ;;
kata-9 | kata-9-one)
    katago_config katago200.cfg 200
    [ "$what" = kata-9 ] || one="$one --set search.batch_size=1 --set search.two_batches=false"
    play "kata200-${what#kata-}" "keisei=keisei:$G170@200 $one" \
        "katago=$KATAGO gtp -model $G170 -config $LAB/katago200.cfg" \
        --rules chinese --size 9 --openings 1/4 --balance b6c64:0.2 --games "$games"
    ;;
in-flight)
    play in-flight-9 \
        "many=keisei:b6c64@3200 $one --set net.max_batch=64 --set search.batch_size=64 --set search.batch_seconds=10" \
        "one=keisei:b6c64@3200 $one --set search.batch_size=1 --set search.two_batches=false" \
        --size 9 --openings 1/4 --balance b6c64:0.2 --games "$games"
    ;;
*) sed -n '2,20s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
