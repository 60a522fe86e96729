#!/bin/sh
# Compiles as counted.sh does, the agent without optimising: for seconds of fuzzing that takes more time than it saves.
case " $* " in
*" --crate-name sinemora_agent "*) set -- "$@" -Copt-level=0 ;;
esac
exec "$(dirname "$0")/counted.sh" "$@" -Cdebuginfo=0
