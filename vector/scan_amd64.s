//go:build !noasm

#include "textflag.h"

// func dotRowsAVX2(q *int16, rows *byte, n int, out *int32, count int)
TEXT ·dotRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ rows+8(FP), SI
	MOVQ out+24(FP), DX
	MOVQ count+32(FP), BX

row:
	MOVQ  q+0(FP), DI
	MOVQ  n+16(FP), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1

columns:
	VPMOVSXBW (SI), Y2
	VPMOVSXBW 16(SI), Y3
	VPMADDWD  (DI), Y2, Y2
	VPMADDWD  32(DI), Y3, Y3
	VPADDD    Y2, Y0, Y0
	VPADDD    Y3, Y1, Y1
	ADDQ      $32, SI
	ADDQ      $64, DI
	SUBQ      $32, CX
	JNZ       columns

	VPADDD       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xB1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, (DX)
	ADDQ         $4, DX
	DECQ         BX
	JNZ          row

	VZEROUPPER
	RET
