"""Columns are characters: umlauts, wide letters, tabs and combining marks before the fault."""

import kbuild as kb


@kb.kernel
def columns(größe: kb.array(dtype=float), 長さ: float):
    größe[0] = 長さ + missing_a  # E: KB103 missing_a
    #                 ^^^^^^^^^
    größe[1] = größe["ü"]; größe[2] = missing_b  # E: KB105 is no value; E: KB103 missing_b


@kb.kernel
def tabs(a: kb.array(dtype=float)):
	if a[0] > 0.0:
		a[0] =	missing_c  # E: KB103 missing_c
#        ^^^^^^^^^


@kb.kernel
def lines(a: kb.array(dtype=float)):
    a[0] = (1.0 +
            missing_d +  # E: KB103 missing_d
            #^^^^^^^^
            2.0)
