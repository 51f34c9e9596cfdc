//! The Snowball English stemmer ("Porter2").
//!
//! It works on lower-case ASCII in one growing buffer: every rule but one cuts or replaces an ending. The algorithm is
//! that of <https://snowballstem.org/algorithms/english/stemmer.html> as of Snowball 2; a test compares it with
//! `rust-stemmers`.

use alloc::vec::Vec;

/// Whole words for which the rules are wrong.
const EXCEPTIONS: [(&[u8], &[u8]); 18] = [
    (b"andes", b"andes"),
    (b"atlas", b"atlas"),
    (b"bias", b"bias"),
    (b"cosmos", b"cosmos"),
    (b"dying", b"die"),
    (b"early", b"earli"),
    (b"gently", b"gentl"),
    (b"howe", b"howe"),
    (b"idly", b"idl"),
    (b"lying", b"lie"),
    (b"news", b"news"),
    (b"only", b"onli"),
    (b"singly", b"singl"),
    (b"skies", b"sky"),
    (b"skis", b"ski"),
    (b"sky", b"sky"),
    (b"tying", b"tie"),
    (b"ugly", b"ugli"),
];

/// Words that are complete after the plural is removed.
const FINAL: [&[u8]; 8] = [b"inning", b"outing", b"canning", b"herring", b"earring", b"proceed", b"exceed", b"succeed"];

/// Replacement of an ending.
type Rule = (&'static [u8], &'static [u8]);

/// Endings in the first region. If one is the end of another, the longer comes first.
const STEP_2: [Rule; 22] = [
    (b"ational", b"ate"),
    (b"fulness", b"ful"),
    (b"iveness", b"ive"),
    (b"ization", b"ize"),
    (b"ousness", b"ous"),
    (b"biliti", b"ble"),
    (b"lessli", b"less"),
    (b"tional", b"tion"),
    (b"alism", b"al"),
    (b"aliti", b"al"),
    (b"ation", b"ate"),
    (b"entli", b"ent"),
    (b"fulli", b"ful"),
    (b"iviti", b"ive"),
    (b"ousli", b"ous"),
    (b"abli", b"able"),
    (b"alli", b"al"),
    (b"anci", b"ance"),
    (b"ator", b"ate"),
    (b"enci", b"ence"),
    (b"izer", b"ize"),
    (b"bli", b"ble"),
];

const STEP_3: [Rule; 8] = [
    (b"ational", b"ate"),
    (b"tional", b"tion"),
    (b"alize", b"al"),
    (b"icate", b"ic"),
    (b"iciti", b"ic"),
    (b"ical", b"ic"),
    (b"ness", b""),
    (b"ful", b""),
];

/// Endings that are removed from the second region. If one is the end of another, the longer comes first.
const STEP_4: [&[u8]; 17] = [
    b"ement", b"able", b"ance", b"ence", b"ible", b"ment", b"ant", b"ate", b"ent", b"ism", b"iti", b"ive", b"ize",
    b"ous", b"al", b"er", b"ic",
];

/// Returns true if the stemmer can stem a normalised word: it has only ASCII letters and
/// apostrophes.
pub(super) fn is_stemmable(word: &[u8]) -> bool {
    word.len() > 2 && word.iter().all(|b| b.is_ascii_lowercase() || *b == b'\'')
}

/// Writes the stem of a lower-case word to `out`, and replaces its content.
pub(super) fn stem(word: &[u8], out: &mut Vec<u8>) {
    out.clear();
    if let Ok(found) = EXCEPTIONS.binary_search_by(|(exception, _)| (*exception).cmp(word)) {
        out.extend_from_slice(EXCEPTIONS.get(found).map_or(word, |(_, stem)| stem));
        return;
    }
    if word.len() < 3 {
        out.extend_from_slice(word);
        return;
    }
    out.extend_from_slice(word.strip_prefix(b"'").unwrap_or(word));
    mark_consonant_y(out);
    let (r1, r2) = regions(out);
    let mut stemmer = Stemmer { word: out, r1, r2 };
    stemmer.strip_possessive();
    stemmer.strip_plural();
    if !FINAL.contains(&stemmer.word.as_slice()) {
        stemmer.strip_past();
        stemmer.fold_final_y();
        stemmer.step_2();
        stemmer.step_3();
        stemmer.step_4();
        stemmer.step_5();
    }
    out.make_ascii_lowercase();
}

/// A word that is being stemmed.
struct Stemmer<'a> {
    word: &'a mut Vec<u8>,
    r1: usize,
    r2: usize,
}

impl Stemmer<'_> {
    /// Returns the character at this distance from the end; 1 is the last.
    fn back(&self, places: usize) -> u8 {
        self.word.len().checked_sub(places).and_then(|at| self.word.get(at)).copied().unwrap_or(0)
    }

    fn has_vowel_before(&self, end: usize) -> bool {
        self.word.iter().take(end).any(|&b| is_vowel(b))
    }

    fn cut(&mut self, ending: usize) {
        self.word.truncate(self.word.len().saturating_sub(ending));
    }

    fn replace(&mut self, ending: usize, with: &[u8]) {
        self.cut(ending);
        self.word.extend_from_slice(with);
    }

    fn in_region(&self, region: usize, ending: usize) -> bool {
        self.word.len() >= region + ending
    }

    fn ends_in_short_syllable(&self) -> bool {
        match self.word.as_slice() {
            [a, b] => is_vowel(*a) && !is_vowel(*b),
            [.., a, b, c] => !is_vowel(*a) && is_vowel(*b) && !is_vowel(*c) && !matches!(c, b'w' | b'x' | b'Y'),
            _ => false,
        }
    }

    fn strip_possessive(&mut self) {
        for ending in [b"'s'".as_slice(), b"'s", b"'"] {
            if self.word.ends_with(ending) {
                return self.cut(ending.len());
            }
        }
    }

    fn strip_plural(&mut self) {
        if self.word.ends_with(b"sses") {
            self.cut(2);
        } else if self.word.ends_with(b"ied") || self.word.ends_with(b"ies") {
            let cut = if self.word.len() > 4 { 2 } else { 1 };
            self.cut(cut);
        } else if self.word.ends_with(b"s")
            && !matches!(self.back(2), b's' | b'u')
            && self.has_vowel_before(self.word.len().saturating_sub(2))
        {
            self.cut(1);
        }
    }

    fn strip_past(&mut self) {
        for ending in [b"eedly".as_slice(), b"eed"] {
            if self.word.ends_with(ending) {
                if self.in_region(self.r1, ending.len()) {
                    self.replace(ending.len(), b"ee");
                }
                return;
            }
        }
        let endings = [b"ingly".as_slice(), b"edly", b"ing", b"ed"];
        let Some(ending) = endings.into_iter().find(|ending| self.word.ends_with(ending)) else { return };
        if !self.has_vowel_before(self.word.len() - ending.len()) {
            return;
        }
        self.cut(ending.len());
        let last = self.back(1);
        if [b"at", b"bl", b"iz"].iter().any(|ending| self.word.ends_with(*ending)) {
            self.word.push(b'e');
        } else if last == self.back(2) && matches!(last, b'b' | b'd' | b'f' | b'g' | b'm' | b'n' | b'p' | b'r' | b't') {
            self.cut(1);
        } else if self.word.len() == self.r1 && self.ends_in_short_syllable() {
            self.word.push(b'e');
        }
    }

    fn fold_final_y(&mut self) {
        if matches!(self.back(1), b'y' | b'Y') && self.word.len() > 2 && !is_vowel(self.back(2)) {
            self.replace(1, b"i");
        }
    }

    fn step_2(&mut self) {
        if let Some((ending, with)) = STEP_2.iter().find(|(ending, _)| self.word.ends_with(ending)) {
            if self.in_region(self.r1, ending.len()) {
                self.replace(ending.len(), with);
            }
        } else if self.word.ends_with(b"ogi") {
            if self.in_region(self.r1, 3) && self.back(4) == b'l' {
                self.cut(1);
            }
        } else if self.word.ends_with(b"li")
            && self.in_region(self.r1, 2)
            && matches!(self.back(3), b'c' | b'd' | b'e' | b'g' | b'h' | b'k' | b'm' | b'n' | b'r' | b't')
        {
            self.cut(2);
        }
    }

    fn step_3(&mut self) {
        if let Some((ending, with)) = STEP_3.iter().find(|(ending, _)| self.word.ends_with(ending)) {
            if self.in_region(self.r1, ending.len()) {
                self.replace(ending.len(), with);
            }
        } else if self.word.ends_with(b"ative") && self.in_region(self.r2, 5) {
            self.cut(5);
        }
    }

    fn step_4(&mut self) {
        if let Some(ending) = STEP_4.iter().find(|ending| self.word.ends_with(ending)) {
            if self.in_region(self.r2, ending.len()) {
                self.cut(ending.len());
            }
        } else if self.word.ends_with(b"ion") && self.in_region(self.r2, 3) && matches!(self.back(4), b's' | b't') {
            self.cut(3);
        }
    }

    fn step_5(&mut self) {
        match self.back(1) {
            b'e' if self.in_region(self.r2, 1) => self.cut(1),
            b'e' if self.in_region(self.r1, 1) => {
                self.cut(1);
                if self.ends_in_short_syllable() {
                    self.word.push(b'e');
                }
            }
            b'l' if self.in_region(self.r2, 1) && self.back(2) == b'l' => self.cut(1),
            _ => {}
        }
    }
}

fn is_vowel(b: u8) -> bool {
    matches!(b, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

/// Marks a `y` that is a consonant, at the start or after a vowel, as `Y`.
fn mark_consonant_y(word: &mut [u8]) {
    let mut behind_vowel = true;
    for b in word {
        if *b == b'y' && behind_vowel {
            *b = b'Y';
        }
        behind_vowel = is_vowel(*b);
    }
}

/// Returns the starts of the two regions: each after the first consonant that follows a vowel.
fn regions(word: &[u8]) -> (usize, usize) {
    let prefix = [b"gener".as_slice(), b"commun", b"arsen"].into_iter().find(|prefix| word.starts_with(prefix));
    let r1 = prefix.map_or_else(|| behind_syllable(word, 0), <[u8]>::len);
    (r1, behind_syllable(word, r1))
}

fn behind_syllable(word: &[u8], from: usize) -> usize {
    let pairs = word.iter().zip(word.iter().skip(1)).enumerate().skip(from);
    let mut ends = pairs.filter(|(_, (a, b))| is_vowel(**a) && !is_vowel(**b));
    ends.next().map_or(word.len(), |(at, _)| at + 2)
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::{String, ToString};

    use super::*;
    use proptest::prelude::*;
    use rust_stemmers::{Algorithm, Stemmer as Reference};

    fn stemmed(word: &str) -> String {
        let mut out = Vec::new();
        stem(word.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    /// Roots and endings of words that look like English: each root is combined with each ending.
    const ROOTS: &str = "abandon abil absol absor abstract accept access account accuse achiev acid act activ adapt add \
        address admir adopt advis affect agen aggreg agre allow alter ambigu amus analog analys anger annoy answer appear \
        apolog appli arbitr argu arrang arsen assert assum attach attack author automat avail awak back balanc ban bank \
        bar base batch beauti beg begin behav belie benefit big bit blam bless block blow boil book border bother brac \
        break brief bring broad buffer bug build burn busi cach call can cancel capabl captur care carri cast categor \
        caus ceas centr certif chain chang character chec choos circl citi claim clar class clean clear click clos code \
        collect combin come comfort command comment commit commun compar compat compil complet compos comput conceal \
        condit config conform confus connec consid consist consol consum contain content contin control conver cool copi \
        correct cost count cours cover crash creat credi cri critic cross cur custom cut cycl damag danger data dat de \
        deal debug decid declar decor decreas deep default defin delet deliver demand den depend deploy describ design \
        desper destroy detail detect determin develop devi di differ digit direc disabl discov discuss disk divid do \
        document doubl doubt down draw dri driv drop duplic dump dy earn eas edit effect elect embarrass emit employ \
        empti enabl encod end engin enter entitl equal err escap eval event evid exact examin exceed excel excit execut \
        exist expand expect expens explain explor express extend extrem fail faith fall fashion fast fat fear featur \
        feed fetch fil fill filter final find fin fit fix flag flat flow fly fold follow forc forget form formal format \
        found frag fre frequent friend full function gener gentl get giv glob go grace gradual grant great group grow \
        guarant guess guid hand handl happen happi hard hash hat haul head help hesit hid hit hold hop horribl host hug \
        hurri identifi ignor imag immedi implement import improv includ increas index indic infer inform inherit init \
        insert inspec instal instan integr intend inter invest invit isol issu iter join judg jump just keep key kill \
        kind know label lack last laugh lay lazi lead leak learn leav legal lend less let level li light lik limit link \
        list liter liv load loc lock log logic lonel long look loop los lov low ly mail main maintain mak manag map mark \
        mask match mean measur memori merg messag method migrat mind mis mix mod moder modul monitor motiv mov multipl \
        name narrow nation natur need nerv nest new nois norm not notic number obey objec observ obtain occur offer omit \
        open oper opt order organ origin output own pack pag paint pair panic par pars part pass past patch path paus \
        pay perceiv perfect perform permit persist person pick pin plan play plug pol pool popul port posit post predic \
        prefer prepar prevent print proceed process produc profil program promis propag protec prov provid public pul \
        purpos push put qualiti queri question queu quick quit rac rais ran rang rapid rat rational reach read real reason \
        rebuild receiv recogn record recover redirect reduc refer reflec refus region regist regul reject relat releas \
        relev rem remain remov rename repeat replac report request requir reset resolv respon rest result retri return \
        revers review revis rid ris roll rot rout run saf sam sav say scal schedul scop scream search secur see select \
        send sens separ serial serv set shap shar ship short show shut si sign simpl sing siz ski skip sleep slid slow \
        smooth snap soft solv sort spec speed spell spi split stab stag start stat stay step stop stor strang stream \
        stretch string strip struc studi style subscrib succeed suggest suppli support suppos surviv suspec swap switch \
        symbol sync system tag tak target task team tell term test thank thread throw ti tim token toler touch trac train \
        transfer translat transpar tri trigger trust try tun turn type ugl un unifi unit updat upload us user usual util \
        vacuum vali valu vari verifi version view visit vot wait wak walk want warn wash watch wav way weak web wid win \
        wish wonder word work worri wrap writ yell yes yield young zip";
    const ENDINGS: &str = "- s es ed ing er e y ies ied ly ment ation ational ator ness ful fulness fully fulli ous ously \
        ousness ive iveness ivity ize izer ization able ably ability ible ibli ance ancy ence ency ent ently ant al ally \
        alism ality ical icity icate alize ation ion ions sion tion tional less lessly logi logy ogist eed eedly edly \
        ingly 's s' 's' ' ss sses us ism iti ement ating ated bled bling ized izing tted nning pping ate ates ative yed \
        ying ish ist";

    #[test]
    fn stems_are_those_of_snowball() {
        let reference = Reference::create(Algorithm::English);
        let mut words = 0;
        for root in ROOTS.split_whitespace() {
            for ending in ENDINGS.split_whitespace() {
                let word = if ending == "-" { root.to_string() } else { format!("{root}{ending}") };
                assert_eq!(stemmed(&word), reference.stem(&word), "{word}");
                words += 1;
            }
        }
        assert!(words > 40_000, "{words}");
        for (word, _) in EXCEPTIONS {
            let word = core::str::from_utf8(word).unwrap();
            assert_eq!(stemmed(word), reference.stem(word), "{word}");
        }
    }

    #[test]
    fn inflections_share_a_stem() {
        for words in [["deploy", "deploys", "deployed", "deploying"], ["query", "queries", "queried", "querying"]] {
            assert!(words.iter().all(|word| stemmed(word) == stemmed(words[0])), "{words:?}");
        }
    }

    proptest! {
        #[test]
        fn any_word_stems_like_snowball(word in "[a-z']{1,15}") {
            prop_assert_eq!(stemmed(&word), Reference::create(Algorithm::English).stem(&word).into_owned());
        }

        #[test]
        fn vowels_and_endings_stem_like_snowball(word in "[aeiouybdt]{0,4}[aeiouyls]{0,3}(s|ed|ing|ly|eed|ation|ative|ogi|y|e|ies|ion)('s)?") {
            prop_assert_eq!(stemmed(&word), Reference::create(Algorithm::English).stem(&word).into_owned());
        }
    }
}
