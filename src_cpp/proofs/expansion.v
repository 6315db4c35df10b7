(* SPDX-FileCopyrightText: gjk_collision contributors *)
(* SPDX-License-Identifier: Apache-2.0 *)
(* The exact arithmetic of shape/expansion.hpp: for doubles of any size and sums of any length up to
   2^20 terms,
   - two_sum() and two_product() are exact (theorems of Flocq);
   - sums, differences and products of expansions have exactly the value of their names, and at most
     as many terms as the template arguments say (by induction over the terms);
   - a value that approximate() returns has a relative error of at most 2^-51, so sign() is the sign
     of the exact value.
   At the end, this is stated for the polynomials of exact.hpp.

   A double is a real number of the format: 53 bits, gradual underflow at 2^-1074. rnd rounds to the
   nearest, ties to even. An expansion is a list of them, in the order of the array.

   Assumed, and not proven here:
   - Nothing overflows: the format has no largest number. Coordinates, radii and margins are at most
     1e15 (kMaxCoordinate), so all numbers are below 2^250.
   - Coordinates are 0, or at least 1e-40 (kMinExactCoordinate); so are radii and margins. Then no
     product underflows, which is proven: each term is a multiple of some 2^e, e at least -740.
   - approximate() ends. Shewchuk proves that the terms of distilled() are nonadjacent, so that they
     pass the check. Here, `passes` limits the number of passes, and the result may be None.
   - add_to() writes only terms that it has read: kept <= i. *)
From Coq Require Import ZArith Reals List Bool Lia Lra.
From Flocq Require Import Core Mult_error Plus_error Relative Pff2Flocq.
Import ListNotations.
Open Scope R_scope.

Notation prec := 53%Z.
Notation emin := (-1074)%Z.
Notation format := (generic_format radix2 (FLT_exp emin prec)).
Notation rnd := (round radix2 (FLT_exp emin prec) ZnearestE).
Notation power := (bpow radix2).

#[local] Instance prec_positive : Prec_gt_0 prec.
Proof. easy. Qed.

Lemma rnd_format x : format (rnd x).
Proof. apply generic_format_round; auto with typeclass_instances. Qed.

Lemma rnd_opp x : rnd (- x) = - rnd x.
Proof. apply round_NE_opp. Qed.

(* Code (shape/expansion.hpp):
     inline TwoTerms two_sum(double a, double b) noexcept {
       const double s = a + b;
       const double b_virtual = s - a;
       const double a_virtual = s - b_virtual;
       return {s, (a - a_virtual) + (b - b_virtual)};
     }
*)
Definition two_sum a b :=
  let s := rnd (a + b) in
  let b_virtual := rnd (s - a) in
  let a_virtual := rnd (s - b_virtual) in
  (s, rnd (rnd (a - a_virtual) + rnd (b - b_virtual))).

Lemma two_sum_exact a b : format a -> format b -> fst (two_sum a b) + snd (two_sum a b) = a + b.
Proof.
intros Fa Fb.
apply (TwoSum_correct emin prec (fun z => negb (Z.even z))); try easy.
intros z. rewrite Z.even_opp, Z.even_add, negb_involutive. now destruct (Z.even z).
Qed.

(* Code (shape/expansion.hpp):
     inline TwoTerms split(double a) noexcept {
       const double c = 134217729.0 * a;
       const double high = c - (c - a);
       return {high, a - high};
     }
*)
Definition split a :=
  let c := rnd (134217729 * a) in
  let high := rnd (c - rnd (c - a)) in
  (high, rnd (a - high)).

(* Code (shape/expansion.hpp):
     inline TwoTerms two_product(double a, double b) noexcept {
       const double p = a * b;
       const TwoTerms x = split(a);
       const TwoTerms y = split(b);
       const double error = ((p - x.high * y.high) - x.low * y.high) - x.high * y.low;
       return {p, x.low * y.low - error};
     }
*)
Definition two_product a b :=
  let p := rnd (a * b) in
  let (x_high, x_low) := split a in
  let (y_high, y_low) := split b in
  let error := rnd (rnd (rnd (p - rnd (x_high * y_high)) - rnd (x_low * y_high))
                      - rnd (x_high * y_low)) in
  (p, rnd (rnd (x_low * y_low) - error)).

Lemma two_product_exact a b : format a -> format b ->
  a * b = 0 \/ power (-969) <= Rabs (a * b) ->
  fst (two_product a b) + snd (two_product a b) = a * b.
Proof.
intros Fa Fb H.
destruct (Dekker radix2 emin prec (fun z => negb (Z.even z)) ltac:(easy) ltac:(easy) b a Fb Fa)
  as [D _]; [now left|].
rewrite (Rmult_comm a b) in *. rewrite (D H).
unfold two_product, split; cbn zeta; cbn [fst snd].
rewrite (Rmult_comm a b).
f_equal.
change (prec - Z.div2 prec)%Z with 27%Z.
replace (power 27 + 1) with 134217729 by (simpl; lra).
assert (S : forall x, rnd (rnd (134217729 * x) - rnd (rnd (134217729 * x) - x))
                    = rnd (rnd (x - rnd (x * 134217729)) + rnd (x * 134217729))).
{ intros x. rewrite (Rmult_comm x). set (c := rnd (134217729 * x)).
  replace (x - c) with (- (c - x)) by ring. rewrite rnd_opp. f_equal. ring. }
rewrite !S.
set (ha := rnd (rnd (a - _) + _)). set (hb := rnd (rnd (b - _) + _)).
set (la := rnd (a - ha)). set (lb := rnd (b - hb)).
rewrite (Rmult_comm ha hb), (Rmult_comm la hb), (Rmult_comm ha lb), (Rmult_comm la lb).
assert (N : forall x y z, z = - x -> rnd (x - y) = - rnd (z + y)).
{ intros x y z ->. rewrite <- rnd_opp. f_equal. ring. }
set (t1 := rnd (- rnd (b * a) + rnd (hb * ha))).
rewrite (N (rnd (b * a)) _ (- rnd (b * a)) ltac:(ring)). fold t1.
rewrite (N (- t1) _ t1 ltac:(ring)). set (t2 := rnd (t1 + _)).
rewrite (N (- t2) _ t2 ltac:(ring)). set (t3 := rnd (t2 + _)).
f_equal. ring.
Qed.

(* ---- terms: doubles that are multiples of 2^e *)

Definition multiple e x := exists m : Z, x = IZR m * power e.
Definition term e x := format x /\ multiple e x.

Lemma multiple_0 e : multiple e 0.
Proof. exists 0%Z. ring. Qed.

Lemma multiple_plus e x y : multiple e x -> multiple e y -> multiple e (x + y).
Proof. intros [m ->] [n ->]. exists (m + n)%Z. rewrite plus_IZR. ring. Qed.

Lemma multiple_opp e x : multiple e x -> multiple e (- x).
Proof. intros [m ->]. exists (- m)%Z. rewrite opp_IZR. ring. Qed.

Lemma multiple_mult e f x y : multiple e x -> multiple f y -> multiple (e + f) (x * y).
Proof. intros [m ->] [n ->]. exists (m * n)%Z. rewrite mult_IZR, bpow_plus. ring. Qed.

Lemma multiple_rnd e x : multiple e x -> multiple e (rnd x).
Proof.
intros [m ->].
destruct (round_repr_same_exp radix2 (FLT_exp emin prec) ZnearestE m e) as [n H].
exists n. exact H.
Qed.

Lemma multiple_large e x : multiple e x -> x = 0 \/ power e <= Rabs x.
Proof.
intros [m ->]. destruct (Z.eq_dec m 0) as [-> | N]; [left; ring | right].
rewrite Rabs_mult, <- abs_IZR, (Rabs_pos_eq (power e)) by apply bpow_ge_0.
rewrite <- (Rmult_1_l (power e)) at 1.
apply Rmult_le_compat_r; [apply bpow_ge_0 | apply IZR_le; lia].
Qed.

(* A coordinate, radius or margin. 1e-40 is the smallest one that exact arithmetic takes. *)
Definition input x := format x /\ (x = 0 \/ 1 / 10 ^ 40 <= Rabs x).

Lemma term_of_input x : input x -> term (-185) x.
Proof.
intros [F [-> | H]]; split; try exact F; [apply multiple_0 |].
assert (L : power (-133) <= Rabs x) by (simpl in *; lra). clear H.
set (c := cexp radix2 (FLT_exp emin prec) x).
assert (C : (-185 <= c)%Z).
{ assert (M := mag_ge_bpow radix2 x (-132) L). unfold c, cexp, FLT_exp. lia. }
exists (Ztrunc (scaled_mantissa radix2 (FLT_exp emin prec) x) * 2 ^ (c + 185))%Z.
rewrite mult_IZR, (IZR_Zpower radix2) by lia. rewrite Rmult_assoc, <- bpow_plus.
replace (c + 185 + -185)%Z with c by lia. exact F.
Qed.

Lemma two_sum_terms e a b : term e a -> term e b ->
  term e (fst (two_sum a b)) /\ term e (snd (two_sum a b)).
Proof.
intros [Fa Ma] [Fb Mb].
assert (P : term e (fst (two_sum a b))).
{ split; [apply rnd_format | now apply multiple_rnd, multiple_plus]. }
split; [exact P | split; [apply rnd_format |]].
replace (snd (two_sum a b)) with (a + b + - fst (two_sum a b)).
2: rewrite <- (two_sum_exact a b) by assumption; ring.
apply multiple_plus; [now apply multiple_plus | apply multiple_opp, P].
Qed.

Lemma two_product_terms e f a b : term e a -> term f b -> (-969 <= e + f)%Z ->
  fst (two_product a b) + snd (two_product a b) = a * b /\
  term (e + f) (fst (two_product a b)) /\ term (e + f) (snd (two_product a b)).
Proof.
intros [Fa Ma] [Fb Mb] L.
assert (M : multiple (e + f) (a * b)) by now apply multiple_mult.
assert (E : fst (two_product a b) + snd (two_product a b) = a * b).
{ apply two_product_exact; [assumption.. |].
  destruct (multiple_large _ _ M) as [H | H]; [now left | right].
  apply Rle_trans with (2 := H). now apply bpow_le. }
assert (P : term (e + f) (fst (two_product a b))).
{ split; [apply rnd_format | now apply multiple_rnd]. }
split; [exact E | split; [exact P | split; [apply rnd_format |]]].
replace (snd (two_product a b)) with (a * b + - fst (two_product a b)) by (rewrite <- E; ring).
apply multiple_plus; [exact M | apply multiple_opp, P].
Qed.

(* ---- expansions *)

Definition sum := fold_right Rplus 0.
(* Code (shape/expansion.hpp):
     void push(double value) noexcept {
       if (value != 0.0) term[size++] = value;
     }
*)
Definition push x l := if Req_bool x 0 then l else x :: l.

(* expands n e l v: l has at most n terms, all of them multiples of 2^e, and the sum v. *)
Definition expands (n : nat) e l v := Forall (term e) l /\ sum l = v /\ (length l <= n)%nat.

Lemma expands_nil e : expands 0 e [] 0.
Proof. repeat split; [constructor | simpl; lia]. Qed.

Lemma expands_push n e x l v : term e x -> expands n e l v -> expands (S n) e (push x l) (x + v).
Proof.
intros T (F & <- & L). unfold push. case Req_bool_spec; intros H.
- subst x. rewrite Rplus_0_l. repeat split; [assumption | lia].
- repeat split; [now constructor | simpl; lia].
Qed.

(* Code (shape/expansion.hpp):
     double carry = b.term[j];
     int kept = 0;
     for (int i = 0; i < sum.size; ++i) {
       const TwoTerms s = two_sum(carry, sum.term[i]);
       carry = s.high;
       if (s.low != 0.0) sum.term[kept++] = s.low;
     }
     if (carry != 0.0) sum.term[kept++] = carry;
     sum.size = kept;
*)
Fixpoint grow carry l :=
  match l with
  | [] => push carry []
  | x :: rest => let s := two_sum carry x in push (snd s) (grow (fst s) rest)
  end.

Lemma expands_grow e l : forall n c v, term e c -> expands n e l v ->
  expands (S n) e (grow c l) (c + v).
Proof.
induction l as [|x l IH]; intros n c v Tc (F & <- & L).
- apply (expands_push n); [exact Tc |]. repeat split; [constructor | simpl; lia].
- destruct n as [|n]; [simpl in L; lia |].
  inversion F as [|? ? Tx Fl]; subst. simpl.
  destruct (two_sum_terms e c x Tc Tx) as [Th Tl].
  replace (c + (x + sum l)) with (snd (two_sum c x) + (fst (two_sum c x) + sum l)).
  2: rewrite <- Rplus_assoc, (Rplus_comm (snd _)), two_sum_exact;
       [ring | apply Tc | apply Tx].
  apply expands_push; [exact Tl |]. apply IH; [exact Th |].
  repeat split; [exact Fl | simpl in L; lia].
Qed.

(* Code (shape/expansion.hpp):
     void add_to(Expansion<N>& sum, const Expansion<M>& b) noexcept {
       for (int j = 0; j < b.size; ++j) {
         double carry = b.term[j];
*)
Definition add_to a b := fold_left (fun s t => grow t s) b a.

Lemma expands_add_to e b : forall n m a v w, expands n e a v -> expands m e b w ->
  expands (n + m) e (add_to a b) (v + w).
Proof.
induction b as [|x b IH]; intros n m a v w A (F & <- & L).
- simpl. rewrite Rplus_0_r. destruct A as (? & ? & ?). repeat split; [assumption.. | lia].
- destruct m as [|m]; [simpl in L; lia |].
  inversion F; subst. simpl.
  replace (v + (x + sum b)) with ((x + v) + sum b) by ring.
  replace (n + S m)%nat with (S n + m)%nat by lia.
  apply IH; [now apply expands_grow |]. repeat split; [assumption | simpl in L; lia].
Qed.

(* Code (shape/expansion.hpp):
     inline Expansion<1> exactly(double a) noexcept {
       Expansion<1> e;
       e.term[0] = a;
       e.size = a != 0.0 ? 1 : 0;
       return e;
     }
*)
Definition exactly a := push a [].

Lemma expands_exactly e a : term e a -> expands 1 e (exactly a) a.
Proof. intros T. rewrite <- (Rplus_0_r a) at 2. apply expands_push, expands_nil. exact T. Qed.

(* Code (shape/expansion.hpp):
     inline TwoTerms two_difference(double a, double b) noexcept { return two_sum(a, -b); }
*)
(* Code (shape/expansion.hpp):
     inline Expansion<2> exact_difference(double a, double b) noexcept {
       const TwoTerms d = two_difference(a, b);
       Expansion<2> e;
       e.push(d.low);
       e.push(d.high);
       return e;
     }
*)
Definition exact_difference a b := let d := two_sum a (- b) in push (snd d) (push (fst d) []).

Lemma term_opp e x : term e x -> term e (- x).
Proof. intros [F M]. split; [now apply generic_format_opp | now apply multiple_opp]. Qed.

Lemma expands_exact_difference e a b : term e a -> term e b ->
  expands 2 e (exact_difference a b) (a - b).
Proof.
intros Ta Tb. assert (To := term_opp _ _ Tb).
destruct (two_sum_terms e a (- b) Ta To) as [Th Tl].
unfold exact_difference; cbn zeta.
replace (a - b) with (snd (two_sum a (- b)) + (fst (two_sum a (- b)) + 0)).
2: rewrite Rplus_0_r, Rplus_comm, two_sum_exact; [ring | apply Ta | apply To].
now apply expands_push, expands_push, expands_nil.
Qed.

(* Code (shape/expansion.hpp):
     Expansion<N + M> operator+(const Expansion<N>& a, const Expansion<M>& b) noexcept {
       Expansion<N + M> sum;
       add_to(sum, a);
       add_to(sum, b);
       return sum;
     }
*)
Definition plus a b := add_to (add_to [] a) b.

Lemma expands_plus e n m a b v w : expands n e a v -> expands m e b w ->
  expands (n + m) e (plus a b) (v + w).
Proof.
intros A B. apply expands_add_to; [| exact B].
rewrite <- (Rplus_0_l v). apply (expands_add_to e a 0 n []); [apply expands_nil | exact A].
Qed.

(* Code (shape/expansion.hpp):
     Expansion<N> operator-(Expansion<N> a) noexcept {
       for (int i = 0; i < a.size; ++i) a.term[i] = -a.term[i];
       return a;
     }
*)
(* Code (shape/expansion.hpp):
     Expansion<N + M> operator-(const Expansion<N>& a, const Expansion<M>& b) noexcept {
       return a + (-b);
     }
*)
Definition minus a b := plus a (map Ropp b).

Lemma expands_opp e n a v : expands n e a v -> expands n e (map Ropp a) (- v).
Proof.
intros (F & <- & L). repeat split; [| | now rewrite map_length].
- clear L. induction F; constructor; [now apply term_opp | assumption].
- clear F L. induction a; simpl; [ring | rewrite IHa; ring].
Qed.

Lemma expands_minus e n m a b v w : expands n e a v -> expands m e b w ->
  expands (n + m) e (minus a b) (v - w).
Proof. intros A B. now apply expands_plus, expands_opp. Qed.

(* Code (shape/expansion.hpp):
     Expansion<2 * N> scale(const Expansion<N>& a, double b) noexcept {
       Expansion<2 * N> product;
       double carry = 0.0;
       for (int i = 0; i < a.size; ++i) {
         const TwoTerms p = two_product(a.term[i], b);
         const TwoTerms low = two_sum(carry, p.low);
         product.push(low.low);
         const TwoTerms high = two_sum(p.high, low.high);
         product.push(high.low);
         carry = high.high;
       }
       product.push(carry);
       return product;
     }
*)
Fixpoint scale_from carry a b :=
  match a with
  | [] => push carry []
  | x :: rest =>
      let p := two_product x b in
      let low := two_sum carry (snd p) in
      let high := two_sum (fst p) (fst low) in
      push (snd low) (push (snd high) (scale_from (fst high) rest b))
  end.
Definition scale a b := scale_from 0 a b.

Lemma expands_scale_from e f b : term f b -> (-969 <= e + f)%Z -> forall a n c v,
  term (e + f) c -> expands n e a v -> expands (2 * n + 1) (e + f) (scale_from c a b) (c + v * b).
Proof.
intros Tb L. induction a as [|x a IH]; intros n c v Tc (F & <- & N).
- simpl sum. rewrite Rmult_0_l, Rplus_0_r. rewrite <- (Rplus_0_r c) at 2.
  simpl scale_from.
  destruct (expands_push 0 (e + f) c [] 0 Tc (expands_nil _)) as (? & ? & ?).
  repeat split; [assumption.. | simpl in *; lia].
- destruct n as [|n]; [simpl in N; lia |].
  inversion F as [|? ? Tx Fa]; subst. simpl scale_from.
  destruct (two_product_terms e f x b Tx Tb L) as (E & Th & Tl).
  destruct (two_sum_terms _ c _ Tc Tl) as [Tlh Tll].
  assert (El := two_sum_exact c _ (proj1 Tc) (proj1 Tl)).
  destruct (two_sum_terms _ _ _ Th Tlh) as [Thh Thl].
  assert (Eh := two_sum_exact _ _ (proj1 Th) (proj1 Tlh)).
  set (p := two_product x b) in *. set (low := two_sum c (snd p)) in *.
  set (high := two_sum (fst p) (fst low)) in *.
  replace (c + sum (x :: a) * b) with (snd low + (snd high + (fst high + sum a * b))).
  2: { change (sum (x :: a)) with (x + sum a). rewrite Rmult_plus_distr_r, <- E. lra. }
  replace (2 * S n + 1)%nat with (S (S (2 * n + 1)))%nat by lia.
  apply expands_push; [exact Tll |]. apply expands_push; [exact Thl |].
  apply IH; [exact Thh |]. repeat split; [exact Fa | simpl in N; lia].
Qed.

(* The first carry is 0, so the first low part is 0 too. *)
Lemma expands_scale e f n a v b : expands n e a v -> term f b -> (-969 <= e + f)%Z ->
  expands (2 * n) (e + f) (scale a b) (v * b).
Proof.
intros A Tb L. unfold scale.
assert (T0 : term (e + f) 0) by (split; [apply generic_format_0 | apply multiple_0]).
destruct (expands_scale_from e f b Tb L a n 0 v T0 A) as (F & V & _).
rewrite Rplus_0_l in V. repeat split; [exact F | exact V |].
destruct a as [|x a].
- simpl. unfold push. rewrite Req_bool_true by easy. simpl. lia.
- destruct A as (Fa & _ & N). inversion Fa as [|? ? Tx Fr]; subst.
  destruct (two_product_terms e f x b Tx Tb L) as (_ & Th & Tl).
  destruct (two_sum_terms _ 0 _ T0 Tl) as [Tlh _].
  assert (Z : snd (two_sum 0 (snd (two_product x b))) = 0).
  { assert (E := two_sum_exact 0 _ (proj1 T0) (proj1 Tl)).
    unfold two_sum in E at 1; cbn zeta in E; cbn [fst] in E.
    rewrite Rplus_0_l, (round_generic _ _ _ _ (proj1 Tl)) in E. lra. }
  cbn [scale_from]. cbn zeta. rewrite Z. unfold push at 1. rewrite Req_bool_true by easy.
  destruct (two_sum_terms _ _ _ Th Tlh) as [Thh Thl].
  destruct n as [|n]; [simpl in N; lia |].
  replace (2 * S n)%nat with (S (2 * n + 1)) by lia.
  eapply expands_push; [exact Thl |]. apply expands_scale_from with (v := sum a); try assumption.
  repeat split; [assumption | simpl in N; lia].
Qed.

(* Code (shape/expansion.hpp):
     Expansion<2 * N * M> operator*(const Expansion<N>& a, const Expansion<M>& b) noexcept {
       Expansion<2 * N * M> product;
       for (int j = 0; j < b.size; ++j) add_to(product, scale(a, b.term[j]));
       return product;
     }
*)
Definition times a b := fold_left (fun product t => add_to product (scale a t)) b [].

Lemma expands_times e f n m a b v w : expands n e a v -> expands m f b w -> (-969 <= e + f)%Z ->
  expands (2 * n * m) (e + f) (times a b) (v * w).
Proof.
intros A B L. unfold times.
assert (H : forall b m k p u w, expands k (e + f) p u -> expands m f b w ->
  expands (k + 2 * n * m) (e + f)
    (fold_left (fun product t => add_to product (scale a t)) b p) (u + v * w)).
{ clear b m w B. induction b as [|t b IH]; intros m k p u w P (F & <- & N).
  - simpl. rewrite Rmult_0_r, Rplus_0_r. destruct P as (? & ? & ?).
    repeat split; [assumption.. | lia].
  - destruct m as [|m]; [simpl in N; lia |]. inversion F; subst. simpl.
    replace (u + v * (t + sum b)) with ((u + v * t) + v * sum b) by ring.
    replace (k + _)%nat with ((k + 2 * n) + 2 * n * m)%nat by nia.
    apply IH; [apply expands_add_to; [exact P | now apply expands_scale] |].
    repeat split; [assumption | simpl in N; lia]. }
rewrite <- (Rplus_0_l (v * w)). apply (H b m 0%nat); [apply expands_nil | exact B].
Qed.

(* Code (shape/expansion.hpp):
     Expansion<N> Expansion<N>::distilled() const noexcept {
       Expansion sum;
       add_to(sum, *this);
       return sum;
     }
*)
Definition distilled a := add_to [] a.

Lemma expands_distilled e n a v : expands n e a v -> expands n e (distilled a) v.
Proof.
intros A. rewrite <- (Rplus_0_l v). apply (expands_add_to e a 0 n []);
  [apply expands_nil | exact A].
Qed.

(* ---- the approximation, with its certificate *)

Notation u := (power (-53)).

Lemma plus_error x y : format x -> format y ->
  Rabs (rnd (x + y) - (x + y)) <= u * Rabs (rnd (x + y)).
Proof.
intros Fx Fy.
destruct (FLT_plus_error_N_round_ex radix2 emin prec (fun z => negb (Z.even z)) x y Fx Fy)
  as (eps & B & E).
replace (u_ro radix2 prec) with u in B by (unfold u_ro; simpl; lra).
set (r := rnd (x + y)) in *. rewrite E. replace (r - r * (1 + eps)) with (- eps * r) by ring.
rewrite Rabs_mult, Rabs_Ropp. apply Rmult_le_compat_r; [apply Rabs_pos | exact B].
Qed.

(* Sums of numbers that are not negative lose at most a relative u. *)
Lemma plus_lower x y : format x -> format y -> 0 <= x -> 0 <= y ->
  (1 - u) * (x + y) <= rnd (x + y) <= (1 + u) * (x + y).
Proof.
intros Fx Fy Px Py.
destruct (FLT_plus_error_N_ex radix2 emin prec (fun z => negb (Z.even z)) x y Fx Fy)
  as (eps & B & E).
assert (U : Rabs eps <= u).
{ apply Rle_trans with (1 := B). replace u with (u_ro radix2 prec) by (unfold u_ro; simpl; lra).
  apply u_rod1pu_ro_le_u_ro. }
apply Rabs_le_inv in U. set (r := rnd (x + y)) in *. rewrite E. split; nra.
Qed.

(* Code (shape/expansion.hpp):
     double approximate() const noexcept {
       double sum = 0.0;
       double magnitudes = 0.0;
       for (int i = 0; i < size; ++i) {
         sum += term[i];
         magnitudes += std::fabs(sum);
       }
       if (magnitudes > 3.0 * std::fabs(sum)) return distilled().approximate();
       return sum;
     }
*)
Fixpoint partial_sums s magnitudes l :=
  match l with
  | [] => (s, magnitudes)
  | x :: rest =>
      let s := rnd (s + x) in
      let magnitudes := rnd (magnitudes + Rabs s) in
      partial_sums s magnitudes rest
  end.

Fixpoint approximate passes l :=
  let (s, magnitudes) := partial_sums 0 0 l in
  if Rlt_bool (rnd (3 * Rabs s)) magnitudes
  then match passes with O => None | S passes => approximate passes (distilled l) end
  else Some s.

(* v: exact sum of the terms so far; m: exact sum of the magnitudes of the partial sums. *)
Lemma partial_sums_bound l : forall s magnitudes v m k, Forall format l ->
  format s -> format magnitudes -> 0 <= magnitudes -> 0 <= m ->
  Rabs (s - v) <= u * m -> m * (1 - INR k * u) <= magnitudes -> INR (k + length l) * u <= 1 ->
  let (s', magnitudes') := partial_sums s magnitudes l in
  format s' /\ exists m', 0 <= m' /\
  Rabs (s' - (v + sum l)) <= u * m' /\ m' * (1 - INR (k + length l) * u) <= magnitudes'.
Proof.
assert (U : 0 < u) by apply bpow_gt_0.
induction l as [|x l IH]; intros s magnitudes v m k F Fs Fm P Pm E M K.
- simpl. rewrite Rplus_0_r, Nat.add_0_r. split; [exact Fs | exists m; auto].
- inversion F as [|? ? Fx Fl]; subst. cbn [partial_sums]. cbn zeta.
  assert (E1 := plus_error s x Fs Fx).
  set (s1 := rnd (s + x)) in *.
  assert (Fs1 : format s1) by apply rnd_format.
  assert (Fa : format (Rabs s1)) by now apply generic_format_abs.
  assert (A := Rabs_pos s1).
  destruct (plus_lower _ _ Fm Fa P A) as [E2 _].
  set (m1 := rnd (magnitudes + Rabs s1)) in *.
  assert (Kk : INR k * u <= 1 - u).
  { rewrite plus_INR in K. cbn [length] in K. rewrite S_INR in K.
    assert (0 <= INR (length l)) by apply pos_INR. nra. }
  assert (Pk : 0 <= INR k * u) by (apply Rmult_le_pos; [apply pos_INR | lra]).
  replace (k + length (x :: l))%nat with (S k + length l)%nat in * by (simpl; lia).
  change (sum (x :: l)) with (x + sum l).
  replace (v + (x + sum l)) with ((v + x) + sum l) by ring.
  apply (IH s1 m1 (v + x) (m + Rabs s1) (S k)); try assumption.
  + apply rnd_format.
  + apply Rle_trans with (2 := E2). apply Rmult_le_pos; [|lra].
    assert (u < 1) by (simpl; lra). lra.
  + lra.
  + replace (s1 - (v + x)) with ((s1 - (s + x)) + (s - v)) by ring.
    apply Rle_trans with (1 := Rabs_triang _ _). lra.
  + apply Rle_trans with (2 := E2). rewrite S_INR.
    assert (m * (1 - INR k * u) * (1 - u) <= magnitudes * (1 - u)).
    { apply Rmult_le_compat_r; lra. }
    assert (0 <= m * (INR k * u) * u) by (apply Rmult_le_pos; [apply Rmult_le_pos |]; lra).
    assert (0 <= Rabs s1 * (INR k * u)) by (apply Rmult_le_pos; lra).
    nra.
Qed.

(* A sum that passes the check. *)
Lemma checked_sum n e l v s magnitudes : expands n e l v -> (Z.of_nat n <= 1048576)%Z ->
  partial_sums 0 0 l = (s, magnitudes) -> magnitudes <= rnd (3 * Rabs s) ->
  Rabs (s - v) <= power (-51) * Rabs v.
Proof.
intros (F & <- & L) N P C.
assert (F0 : format 0) by apply generic_format_0.
assert (K : INR (0 + length l) <= 1048576).
{ rewrite INR_IZR_INZ. apply IZR_le. simpl. lia. }
assert (B := partial_sums_bound l 0 0 0 0 0 (Forall_impl _ (fun x T => proj1 T) F) F0 F0).
rewrite P in B.
destruct B as (Fs & m & Pm & E & M); try (simpl; rewrite ?Rminus_0_r, ?Rabs_R0; lra).
{ simpl in *. lra. }
rewrite Rplus_0_l in E. set (v := sum l) in *.
assert (A := Rabs_pos s).
assert (Fa : format (Rabs s)) by now apply generic_format_abs.
assert (R3 : rnd (3 * Rabs s) <= (1 + u) * (3 * Rabs s)).
{ assert (F2 : format (Rabs s * power 1)) by (apply mult_bpow_pos_exact_FLT; [exact Fa | easy]).
  replace (3 * Rabs s) with (Rabs s + Rabs s * power 1) by (change (power 1) with 2; ring).
  apply plus_lower; try assumption. apply Rmult_le_pos; [exact A | apply bpow_ge_0]. }
assert (T : Rabs s <= Rabs v + Rabs (s - v)).
{ replace s with (v + (s - v)) at 1 by ring. apply Rabs_triang. }
assert (M2 : m * (1 - 1048576 * u) <= m * (1 - INR (0 + length l) * u)).
{ apply Rmult_le_compat_l; [exact Pm |].
  assert (INR (0 + length l) * u <= 1048576 * u); [| lra].
  apply Rmult_le_compat_r; [apply bpow_ge_0 | exact K]. }
simpl in *. lra.
Qed.

Theorem approximate_bound passes : forall n e l v a, expands n e l v -> (Z.of_nat n <= 1048576)%Z ->
  approximate passes l = Some a -> Rabs (a - v) <= power (-51) * Rabs v.
Proof.
induction passes as [|passes IH]; intros n e l v a A N; simpl approximate;
  destruct (partial_sums 0 0 l) as [s magnitudes] eqn:P; case Rlt_bool_spec; intros C H.
- discriminate.
- injection H as <-. now apply (checked_sum n e l v s magnitudes).
- apply (IH n e (distilled l) v a); [now apply expands_distilled | assumption..].
- injection H as <-. now apply (checked_sum n e l v s magnitudes).
Qed.

(* Code (shape/expansion.hpp):
     int sign() const noexcept {
       const double value = approximate();
       return value > 0.0 ? 1 : (value < 0.0 ? -1 : 0);
     }
*)
Theorem sign_right passes n e l v a : expands n e l v -> (Z.of_nat n <= 1048576)%Z ->
  approximate passes l = Some a -> Rcompare a 0 = Rcompare v 0.
Proof.
intros A N H. assert (B := approximate_bound passes n e l v a A N H).
assert (D : power (-51) * Rabs v <= Rabs v / 2).
{ assert (P := Rabs_pos v). simpl. lra. }
apply Rabs_le_inv in B.
case (Rcompare_spec v 0); intros V; [rewrite Rabs_left in * by assumption |
  subst v; rewrite Rabs_R0 in * | rewrite Rabs_pos_eq in * by lra].
- apply Rcompare_Lt. lra.
- apply Rcompare_Eq. lra.
- apply Rcompare_Gt. lra.
Qed.

(* ---- the polynomials of exact.hpp and orientation.hpp. Here, v_x and v_y are coordinates. *)

(* Code (shape/orientation.hpp):
     inline Expansion<16> exact_cross(Vec2 a, Vec2 b, Vec2 c, Vec2 d) noexcept {
       return exact_difference(b.x, a.x) * exact_difference(d.y, c.y) -
              exact_difference(b.y, a.y) * exact_difference(d.x, c.x);
     }
*)
(* Code (shape/orientation.hpp):
     inline Expansion<16> exact_dot(Vec2 a, Vec2 b, Vec2 c) noexcept {
       return exact_difference(b.x, a.x) * exact_difference(c.x, a.x) +
              exact_difference(b.y, a.y) * exact_difference(c.y, a.y);
     }
*)
Definition exact_cross a_x a_y b_x b_y c_x c_y d_x d_y :=
  minus (times (exact_difference b_x a_x) (exact_difference d_y c_y))
        (times (exact_difference b_y a_y) (exact_difference d_x c_x)).
Definition exact_dot a_x a_y b_x b_y c_x c_y :=
  plus (times (exact_difference b_x a_x) (exact_difference c_x a_x))
       (times (exact_difference b_y a_y) (exact_difference c_y a_y)).

Lemma expands_exact_cross a_x a_y b_x b_y c_x c_y d_x d_y :
  Forall input [a_x; a_y; b_x; b_y; c_x; c_y; d_x; d_y] ->
  expands 16 (-370) (exact_cross a_x a_y b_x b_y c_x c_y d_x d_y)
    ((b_x - a_x) * (d_y - c_y) - (b_y - a_y) * (d_x - c_x)).
Proof.
intros I. repeat match goal with H : Forall _ (_ :: _) |- _ => inversion H; clear H; subst end.
unfold exact_cross. change (-370)%Z with (-185 + -185)%Z. change 16%nat with (8 + 8)%nat.
apply expands_minus; apply (expands_times _ _ 2 2); try lia;
  apply expands_exact_difference; now apply term_of_input.
Qed.

Lemma expands_exact_dot a_x a_y b_x b_y c_x c_y :
  Forall input [a_x; a_y; b_x; b_y; c_x; c_y] ->
  expands 16 (-370) (exact_dot a_x a_y b_x b_y c_x c_y)
    ((b_x - a_x) * (c_x - a_x) + (b_y - a_y) * (c_y - a_y)).
Proof.
intros I. repeat match goal with H : Forall _ (_ :: _) |- _ => inversion H; clear H; subst end.
unfold exact_dot. change (-370)%Z with (-185 + -185)%Z. change 16%nat with (8 + 8)%nat.
apply expands_plus; apply (expands_times _ _ 2 2); try lia;
  apply expands_exact_difference; now apply term_of_input.
Qed.

(* Code (narrow/exact.hpp):
     const auto length = [](double v) noexcept {
       return exactly(is_tiny(v) ? kMinExactCoordinate : v);
     };
     const auto exact_reach = length(p.radius) + length(q.radius) + length(margin);
     const auto reach_squared = exact_reach * exact_reach;
*)
Definition reach_squared p q margin :=
  let reach := plus (plus (exactly p) (exactly q)) (exactly margin) in times reach reach.

Lemma expands_reach_squared p q margin : input p -> input q -> input margin ->
  expands 18 (-370) (reach_squared p q margin) ((p + q + margin) * (p + q + margin)).
Proof.
intros P Q M. unfold reach_squared; cbn zeta. change (-370)%Z with (-185 + -185)%Z.
change 18%nat with (2 * 3 * 3)%nat. change 3%nat with (1 + 1 + 1)%nat.
apply expands_times; [| | lia]; repeat apply expands_plus;
  now apply expands_exactly, term_of_input.
Qed.

(* Code (narrow/exact.hpp):
     bool within(const Pair& pair, const Expansion<N>& reach_squared) noexcept {
       count_exact();
       const auto from_squared = exact_dot(pair.from, pair.vertex, pair.vertex);
       if ((from_squared - reach_squared).sign() <= 0) return true;
       const auto to_squared = exact_dot(pair.to, pair.vertex, pair.vertex);
       if ((to_squared - reach_squared).sign() <= 0) return true;
       if (exact_dot(pair.from, pair.to, pair.vertex).sign() <= 0) return false;
       if (exact_dot(pair.to, pair.from, pair.vertex).sign() <= 0) return false;
       const auto area = exact_cross(pair.from, pair.to, pair.from, pair.vertex);
       const auto length_squared = exact_dot(pair.from, pair.to, pair.to);
       return (area * area - reach_squared * length_squared).sign() <= 0;
     }
*)
(* Code (narrow/exact.hpp):
     if ((exact_dot(foot, pair.vertex, pair.vertex) - reach_squared).sign() <= 0) return false;
*)
(* Code (narrow/exact.hpp):
     const auto length_squared = exact_dot(from, to, to);
     for (int j = 0; j < other.size; ++j) {
       const auto area = exact_cross(from, to, from, other.vertex(j));
       if (area.sign() >= 0) return false;
       if ((area * area - reach_squared * length_squared).sign() <= 0) return false;
*)
Theorem sign_of_distance passes a b c r v w l x :
  expands 16 (-370) a v -> expands 18 (-370) r w -> expands 16 (-370) l x ->
  (approximate passes (minus a r) = Some b -> Rcompare b 0 = Rcompare (v - w) 0) /\
  (approximate passes (minus (times a a) (times r l)) = Some c ->
   Rcompare c 0 = Rcompare (v * v - w * x) 0).
Proof.
intros A R L. split; intros H.
- apply (sign_right passes 34 (-370) (minus a r)); [| easy | exact H].
  now apply (expands_minus _ 16 18).
- apply (sign_right passes 1088 (-740) (minus (times a a) (times r l))); [| easy | exact H].
  apply (expands_minus _ 512 576); [apply (expands_times (-370) (-370) 16 16) |
    apply (expands_times (-370) (-370) 18 16)]; try assumption; easy.
Qed.

Print Assumptions sign_of_distance.
