"""Step-level model of llama-server written from the rules in README.md (no llama.cpp code). Compares itself with the recorded traces.
Input per trace: config, prompts, generated ids (only needed for prefix matching) and the step at which each request was first handled."""
import json,glob,sys
import numpy as np
from tests.oracle.llama_server_tokens import toks
F=np.float32
def lcp(a,b):
    n=0
    for x,y in zip(a,b):
        if x!=y: break
        n+=1
    return n
class Slot:
    def __init__(s,i): s.id=i; s.state='idle'; s.req=None; s.tokens=[]; s.kv=0; s.t_last=-1; s.ib=-1; s.ngen=0; s.sampled=None
MUT=set()
class Sim:
    def __init__(S,cfg,prompts,outs,reqs):
        S.c=cfg; S.slots=[Slot(i) for i in range(cfg['np'])]; S.prompts=prompts; S.outs=outs; S.reqs=reqs
        S.clock=0; S.deferred=[]; S.queue=[]; S.ram=[]; S.steps=[]; S.log=[]; S.result={}
    # ---- RAM cache
    def ram_save(S,sl):
        if not sl.tokens: return
        p=sl.tokens
        for e in S.ram:
            if lcp(e,p)==len(p): return
        size=len(p)*S.c['bpt']; lim=S.c['ram']
        if lim>0 and size>lim: return
        S.ram=[e for e in S.ram if lcp(e,p)!=len(e)]
        while lim>0 and S.ram and sum(map(len,S.ram))*S.c['bpt']+size>lim: S.ram.pop(0)
        S.ram.append(list(p))
    def ram_load(S,sl,new):
        base=lcp(sl.tokens,new); keep=F(base)/F(len(sl.tokens)) if sl.tokens else F(-1); sim=F(base)/F(len(new)); best=None
        for e in S.ram:
            l=lcp(e,new); k=F(l)/F(len(e)); m=F(l)/F(len(new))
            if k<F(0.25): continue
            if keep<k and sim<m: keep,sim,best=k,m,e
        if best is not None:
            if S.c['unified'] and sum(x.kv for x in S.slots if x is not sl)+len(best)>S.c['n_ctx']:
                sl.tokens=[]; sl.kv=0; return
            sl.tokens=list(best); sl.kv=len(best); S.ram=[e for e in S.ram if e is not best] if 'ram_copy' not in MUT else S.ram
    # ---- slot choice
    def pick(S,r):
        new=S.prompts[r]; idw=S.reqs[r].get('id_slot',-1); ret=None; upd=False
        if idw!=-1: ret=S.slots[idw%len(S.slots)]
        thr=S.c['sim']
        if thr!=0:
            best=F(0)
            for sl in S.slots:
                if idw!=-1 and sl.id!=idw: continue
                if sl.state!='idle' or not sl.tokens: continue
                f=F(lcp(sl.tokens,new))/F(len(new))
                if f>best and f>thr: best=f; ret=sl
            if ret is not None:
                if ret.tokens:
                    keep=(best*F(len(new)))/F(len(ret.tokens))
                    if keep<F(0.5): upd=True
        if ret is None:
            t=-1
            for sl in S.slots:
                if sl.state!='idle': continue
                if ret is None or (sl.t_last<=t if 'lru_first' not in MUT else sl.t_last<t): t=sl.t_last; ret=sl
            if ret is not None: upd=True
        if ret is not None and upd and S.c['ram']!=0:
            S.ram_save(ret); S.ram_load(ret,new)
        return ret
    def handle(S,r):
        sl=S.pick(r)
        if sl is None or sl.state!='idle': S.deferred.append(r); return
        sl.state='started'; sl.req=r; sl.ngen=0; sl.ib=-1
        S.log.append((len(S.steps),'launch',sl.id,r))
        if S.c['cache_idle'] and S.c['ram']!=0:
            for o in S.slots:
                if o.state=='idle':
                    S.ram_save(o)
                    if S.c['unified']: o.tokens=[]; o.kv=0
    def release(S,sl):
        S.log.append((len(S.steps),'stop',sl.id,sl.req,len(sl.tokens)))
        S.clock+=1; sl.t_last=S.clock; sl.state='idle'; sl.req=None
        if S.deferred:
            k=next((i for i,r in enumerate(S.deferred) if S.reqs[r].get('id_slot',-1)==sl.id),0)
            if 'pop_fifo' in MUT: S.queue.append(S.deferred.pop(k))
            else: S.queue.insert(0,S.deferred.pop(k))
    # ---- one iteration
    def update(S):
        c=S.c; nb=c['nb']; batch=[]   # entries [slot, req, kind, pos, out, token]
        for sl in S.slots:
            sl.kv0=None
            if sl.state=='gen' and len(sl.tokens)+1>=c['n_ctx_slot']:
                nk=S.reqs[sl.req].get('n_keep',0); nk=len(S.prompts[sl.req]) if nk<0 else nk
                nk=min(c['n_ctx_slot']-4,nk); left=len(sl.tokens)-nk; disc=left//2
                sl.tokens=sl.tokens[:nk]+sl.tokens[nk+disc:]; sl.kv-=disc
        for sl in S.slots:
            if sl.state=='gen':
                sl.ib=len(batch); batch.append([sl.id,sl.req,'D',len(sl.tokens),1]); sl.tokens=sl.tokens+[sl.sampled]
        if c['cont'] or not batch:
            for sl in (S.slots if 'prompt_fifo' not in MUT else sorted(S.slots,key=lambda s:(s.req is None,s.req))):
                if len(batch)>=nb: break
                if sl.state not in('started','prompt'): continue
                P=S.prompts[sl.req]
                if sl.state=='started':
                    if len(P)>=c['n_ctx_slot']:
                        S.result[sl.req]=('refused',); S.release(sl); continue
                    n=0
                    if S.reqs[sl.req].get('cache_prompt',True):
                        n=lcp(sl.tokens,P)
                        nr=S.reqs[sl.req].get('n_cache_reuse',c['reuse'])
                        if nr>0:
                            hc=hp=n; T=list(sl.tokens)
                            while hc<len(T) and hp<len(P):
                                m=0
                                while hc+m<len(T) and hp+m<len(P) and T[hc+m]==P[hp+m]: m+=1
                                if m>=nr:
                                    for i in range(m): T[hp+i]=T[hc+i]
                                    n+=m; hc+=m; hp+=m
                                else: hc+=1
                            sl.tokens=T
                    if n==len(P) and n>0 and 'no_last' not in MUT: n-=1
                    sl.cached=n; sl.tokens=sl.tokens[:n]; sl.state='prompt'; sl.kv=n
                    S.log.append((len(S.steps),'n_past',sl.id,sl.req,n))
                while len(sl.tokens)<len(P) and len(batch)<nb:
                    batch.append([sl.id,sl.req,'P',len(sl.tokens),0]); sl.tokens=sl.tokens+[P[len(sl.tokens)]]
                if len(sl.tokens)==len(P):
                    sl.state='done'; batch[-1][4]=1; sl.ib=len(batch)-1
        off=0; cur=nb
        while off<len(batch):
            n=min(cur,len(batch)-off); view=batch[off:off+n]
            st=dict(tok=n,off=off,nb=cur)
            parts=[]
            for s,r,k,p,o in view:
                if k=='P' and parts and parts[-1][0]==s and parts[-1][2]=='P' : parts[-1][4]+=1; parts[-1][5]|=o
                else: parts.append([s,r,k,p,1,o])
            st['parts']=parts
            st['ub']=S.split(view); S.steps.append(st)
            if c['unified'] and sum(x.kv for x in S.slots)+n>c['n_ctx']:
                if cur==1:
                    for sl in S.slots:
                        if sl.state!='idle':
                            S.result[sl.req]=('overflow',); S.release(sl); sl.tokens=[]; sl.kv=0
                    return
                for sl in S.slots:
                    if sl.state=='idle' and sl.tokens: sl.tokens=[]; sl.kv=0; break
                else: cur//=2
                continue
            for s,r,k,p,o in view: S.slots[s].kv+=1
            cur=nb
            for sl in S.slots:
                if sl.state in('done','gen') and off<=sl.ib<off+n:
                    sl.state='gen'; sl.ib=-1; r=sl.req; sl.ngen+=1
                    sl.sampled=S.outs[r][sl.ngen-1] if sl.ngen-1<len(S.outs[r]) else -7
                    stop=False
                    if not c['shift'] and len(sl.tokens)+1>=c['n_ctx_slot']: stop=True
                    if sl.ngen>=S.reqs[r].get('n_predict',8): stop=True
                    if stop:
                        S.result[r]=('ok',sl.id,sl.cached,len(S.prompts[r])-sl.cached,sl.ngen); S.release(sl)
            off+=n
    def split(S,view):
        ub=S.c['ub']; out=[]
        if S.c['unified'] or S.c['np']==1:
            for i in range(0,len(view),ub):
                d={}
                for x in view[i:i+ub]: d[x[0]]=d.get(x[0],0)+1
                out.append(d)
            return out
        left=[]; cnt={}
        for x in view:
            if x[0] not in cnt: left.append(x[0]); cnt[x[0]]=0
            cnt[x[0]]+=1
        while any(cnt.values()):
            seqs=[]; last=None
            for s in left:
                if not cnt[s]: continue
                if last is not None and s!=last+1: continue
                seqs.append(s); last=s
                if len(seqs)>=ub: break
            n=min(cnt[s] for s in seqs); n=max(1,min(n,ub//len(seqs)))
            out.append({s:n for s in seqs})
            for s in seqs: cnt[s]-=n
        return out
def config(t):
    a=t['args']; g=lambda k,d=None:(a[a.index(k)+1] if k in a else d); su=t['startup']
    return dict(np=su['n_slots'],n_ctx=su['n_ctx'],n_ctx_slot=su['n_ctx_slot'],nb=su['n_batch'],ub=su['n_ubatch'],unified=su['kv_unified'],sim=F(g('--slot-prompt-similarity','0.1')),
      ram=int(g('--cache-ram','8192'))*1024*1024,bpt=12288,cache_idle='--no-cache-idle-slots' not in a,cont='--no-cont-batching' not in a,shift='--context-shift' in a,reuse=int(g('--cache-reuse','0')))
def run(path,verbose=False):
    t=json.load(open(path))
    if not t['requests'] or not t['started']: return None
    R=t['requests']; outs=[r['out_ids'] for r in R]; prompts=[]
    for r in R:
        p=[]
        for el in r['prompt']:
            if el[0]=='out': p+=outs[el[1]][:el[2]]
            else: p+=toks(el[0],el[1])
        prompts.append(p)
    ev=t['events']; arr={}
    for i,e in enumerate(ev):
        if e[1]=='process':
            nxt=[x for x in ev[i+1:] if x[1] in('process','decline','defer','launch') and x[2 if x[1]!='launch' else 3]==e[2]][:1]
            if nxt and nxt[0][1]=='decline': continue
            arr.setdefault(e[2],e[0]) if e[2]<len(R) else None
    S=Sim(config(t),prompts,outs,R)
    cancels=sorted((e[0],e[3]) for e in ev if e[1]=='stop' and 'cancelled' in str(R[e[3]].get('error','')) ) if any('cancelled' in str(r.get('error','')) for r in R) else []
    pend=sorted(arr.items(),key=lambda x:(x[1],x[0])); guard=0
    while True:
        n=len(S.steps)
        while True:
            while pend and pend[0][1]<=len(S.steps): S.queue.append(pend.pop(0)[0])
            while S.queue: S.handle(S.queue.pop(0))
            while cancels and cancels[0][0]<=len(S.steps):
                for sl in S.slots:
                    if sl.req==cancels[0][1]: S.release(sl)
                cancels.pop(0)
                while S.queue: S.handle(S.queue.pop(0))
            before=len(S.steps)
            if all(s.state=='idle' for s in S.slots): break
            S.update()
            if len(S.steps)==before and not S.queue and all(s.state=='idle' for s in S.slots): break
        if not pend and not S.queue: break
        guard+=1
        if len(S.steps)==n:
            if guard>10000: break
            # idle server: next arrival must be at this step
            if pend and pend[0][1]>len(S.steps): return t['name'],'STALL',len(S.steps),pend[0]
    bad=[]
    T=t['steps']
    if len(T)!=len(S.steps): bad.append(('nsteps',len(T),len(S.steps)))
    nf=0
    for a,b in zip(T,S.steps):
        for k,x,y in(('tok',a['tok'],b['tok']),('parts',a['parts'],b['parts']),('off',a.get('off',0),b['off']),('nb',a['nb'],b['nb']),('ub',[{int(k):v for k,v in u[1].items()} for u in a['ub']],b['ub'])):
            nf+=1
            if x!=y: bad.append((a['s'],k,x,y))
    for i,r in enumerate(R):
        nf+=1
        q=r.get('result'); s=S.result.get(i)
        if q:
            w=('ok',q['slot'],q['cached'],q['evaluated'],q['predicted'])
        elif r['http']==400: w=('refused',)
        elif r.get('error') and 'cancelled' not in str(r['error']): w=('overflow',)
        else: continue
        if s!=w: bad.append((i,'result',w,s))
    tl=[(e[0],'launch',e[2],e[3]) for e in ev if e[1]=='launch']; sl=[e for e in S.log if e[1]=='launch']
    nf+=len(tl)
    if tl!=sl: bad.append(('launch order',[x for x in zip(tl,sl) if x[0]!=x[1]][:3],len(tl),len(sl)))
    return t['name'],bad,len(T),nf
if __name__=='__main__':
    tot=[0,0,0,0]
    for f in sorted(glob.glob('traces/*.json')):
        x=run(f)
        if x is None: continue
        ok=not x[1]; tot[0]+=1; tot[1]+=ok
        if x[1]!='STALL': tot[2]+=x[2]; tot[3]+=x[3]
        print('OK ' if ok else 'BAD',x[0],x[2],'' if ok else str(x[1] if x[1]=='STALL' else x[1][:2])[:600])
    print(tot)
