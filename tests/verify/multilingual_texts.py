"""Texts in many languages and scripts, and odd ones made of them."""
import random

SENTENCES = [
    "All human beings are born free and equal in dignity and rights.",
    "They are endowed with reason and conscience; they should act towards one another in a spirit of brotherhood.",
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
    "Todos los seres humanos nacen libres e iguales en dignidad y derechos.",
    "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti.",
    "Todos os seres humanos nascem livres e iguais em dignidade e em direitos.",
    "Alle mennesker er født frie og med samme menneskeverd og menneskerettigheter.",
    "Alla människor är födda fria och lika i värde och rättigheter.",
    "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan.",
    "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
    "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv.",
    "Minden emberi lény szabadon születik és egyenlő méltósága és joga van.",
    "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.",
    "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.",
    "Semua orang dilahirkan merdeka dan mempunyai martabat dan hak-hak yang sama.",
    "Watu wote wamezaliwa huru, hadhi na haki zao ni sawa.",
    "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "Всі люди народжуються вільними і рівними у своїй гідності та правах.",
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "Բոլոր մարդիկ ծնվում են ազատ ու հավասար իրենց արժանապատվությամբ ու իրավունքներով։",
    "ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით.",
    "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.",
    "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.",
    "تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند.",
    "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
    "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে।",
    "மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்.",
    "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。",
    "人人生而自由,在尊嚴和權利上一律平等。",
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "It's 3:45 p.m. - we'll meet at 10,000 feet; don't be late!",
    "def f(x):\n    return x ** 2 + 1  # squares\n",
    "https://example.org/a?b=c&d=%20#top or mail me@example.org",
    "The price rose by 12.5% to $1,299.00 (≈ €1.199,50).",
    "🙂🎉 well done 👍🏽 — see you tomorrow… “maybe”",
    "x₁² + x₂² ≤ ½ · π ≈ 3.14159",
    "ＦＵＬＬ　ｗｉｄｔｈ ﬁne ﬂow № ℃ ㍿",
]
ODD = [" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u200b", "e\u0301", "İ", "ß", "Ω", "ΑΣ", "\u0085", "\u2028", "...", "!!",
       "'s", "'LL", "don't", "1234567890", "٣٤٥", "Ⅷ", "a_b", "--", "#", "@", "\u00ad", "😀😀", "\U0001F469\u200D\U0001F4BB", "e\u0323\u0302",
       "<unk>", "</s>", "[MASK]", "<|endoftext|>", "▁"]


def texts(count, seed=1):
    """The sentences, then pieces of them put together."""
    draw = random.Random(seed)
    made = list(SENTENCES)
    while len(made) < count:
        kind = draw.randrange(6)
        sentence = draw.choice(SENTENCES)
        words = sentence.split(" ")
        if kind == 0:
            begin = draw.randrange(len(words))
            made.append(" ".join(words[begin:begin + 1 + draw.randrange(8)]))
        elif kind == 1:
            made.append(sentence.upper() if draw.random() < 0.5 else sentence.title())
        elif kind == 2:
            made.append(draw.choice(["", " "]).join([sentence, draw.choice(SENTENCES)]))
        elif kind == 3:
            mixed = [draw.choice(draw.choice(SENTENCES).split(" ")) for _ in range(1 + draw.randrange(10))]
            made.append(" ".join(mixed))
        elif kind == 4:
            at = draw.randrange(len(sentence))
            made.append(sentence[:at] + draw.choice(ODD) + sentence[at:])
        else:
            made.append("".join(draw.choice(ODD + list(sentence)) for _ in range(1 + draw.randrange(20))))
    return made[:count]
